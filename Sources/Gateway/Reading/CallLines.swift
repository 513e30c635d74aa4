/// Decides which call to an upstream has a place, and which one of those that wait gets the next.
///
/// Two bounds hold at once: a network has a share of the upstream's calls, under any name that its callers
/// give, and an owner has a share of its network's. A stranger who makes accounts and devices takes the
/// share of one network and no more; a signed-in caller behind the same address has room beside it. A
/// place that becomes free goes to the owner with the fewest calls in progress, so a long line delays its
/// own owner.
///
/// A value without clocks and threads: calls enter and leave, and it returns which one goes on.
struct CallLines {
  enum Submission: Equatable {
    case hasPlace
    case waits
    /// The owner, the network or all networks have too many calls that wait.
    case refused
  }

  /// The maximum number of calls that wait in all lines.
  static let waitingMax = 4_096
  /// The maximum number of calls of one network that wait.
  static let waitingOfNetworkMax = 1_024
  /// The maximum number of calls of one owner that wait; the network's others have the rest.
  static let waitingOfOwnerMax = share(of: waitingOfNetworkMax)

  private struct Line {
    var running = 0
    /// The longest waiting first.
    var waiting: [UInt64] = []
  }

  private struct Network {
    var running = 0
    var waiting = 0
    var lines: [CallerOwner: Line] = [:]
  }

  /// The concurrent calls of one network, and of one owner in it.
  let callsOfNetworkMax: Int
  let callsOfOwnerMax: Int
  private var networks: [String: Network] = [:]
  private var waitingCount = 0

  init(concurrencyMax: Int) {
    callsOfNetworkMax = Self.share(of: concurrencyMax)
    callsOfOwnerMax = Self.share(of: callsOfNetworkMax)
  }

  /// Three quarters, rounded up.
  private static func share(of count: Int) -> Int { max(1, count - count / 4) }

  /// The number of calls in progress and of waiting ones, for a network.
  func counts(of network: String) -> (running: Int, waiting: Int) {
    (networks[network]?.running ?? 0, networks[network]?.waiting ?? 0)
  }

  /// Gives a call a place, if one is free for its owner now.
  mutating func enter(_ owner: CallerOwner.InNetwork) -> Bool {
    var network = networks[owner.network] ?? Network()
    guard network.running < callsOfNetworkMax,
      network.lines[owner.owner, default: Line()].running < callsOfOwnerMax
    else { return false }
    network.running += 1
    network.lines[owner.owner, default: Line()].running += 1
    networks[owner.network] = network
    return true
  }

  /// Gives a call a place, or puts it in its owner's line.
  ///
  /// - Parameter number: unique among the calls that wait.
  mutating func submit(_ number: UInt64, of owner: CallerOwner.InNetwork) -> Submission {
    if enter(owner) { return .hasPlace }
    // Without a place for it, the network has calls in progress.
    guard var network = networks[owner.network], waitingCount < Self.waitingMax,
      network.waiting < Self.waitingOfNetworkMax,
      network.lines[owner.owner, default: Line()].waiting.count < Self.waitingOfOwnerMax
    else { return .refused }
    network.lines[owner.owner, default: Line()].waiting.append(number)
    network.waiting += 1
    waitingCount += 1
    networks[owner.network] = network
    return .waits
  }

  /// Ends the wait of a call.
  mutating func withdraw(_ number: UInt64, of owner: CallerOwner.InNetwork) {
    guard var network = networks[owner.network], var line = network.lines[owner.owner],
      let index = line.waiting.firstIndex(of: number)
    else { return }
    line.waiting.remove(at: index)
    network.waiting -= 1
    waitingCount -= 1
    store(line, of: owner, in: &network)
  }

  /// Takes back the place of a call.
  ///
  /// - Returns: the waiting call that has a place now.
  mutating func leave(_ owner: CallerOwner.InNetwork) -> UInt64? {
    guard var network = networks[owner.network], var line = network.lines[owner.owner] else {
      return nil
    }
    network.running -= 1
    line.running -= 1
    store(line, of: owner, in: &network)
    guard let next = next(in: network), var nextLine = network.lines[next] else { return nil }
    let number = nextLine.waiting.removeFirst()
    nextLine.running += 1
    network.running += 1
    network.waiting -= 1
    waitingCount -= 1
    store(nextLine, of: .init(network: owner.network, owner: next), in: &network)
    return number
  }

  /// The owner whose longest-waiting call is next.
  private func next(in network: Network) -> CallerOwner? {
    guard network.waiting > 0, network.running < callsOfNetworkMax else { return nil }
    var best: (owner: CallerOwner, running: Int, number: UInt64)?
    for (owner, line) in network.lines {
      guard let first = line.waiting.first, line.running < callsOfOwnerMax else { continue }
      if let best, (best.running, best.number) <= (line.running, first) { continue }
      best = (owner, line.running, first)
    }
    return best?.owner
  }

  /// Keeps a line and its network as long as they have calls.
  private mutating func store(
    _ line: Line, of owner: CallerOwner.InNetwork, in network: inout Network
  ) {
    network.lines[owner.owner] = line.running == 0 && line.waiting.isEmpty ? nil : line
    networks[owner.network] = network.lines.isEmpty ? nil : network
  }
}
