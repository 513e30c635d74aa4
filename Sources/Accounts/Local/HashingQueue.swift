import Model

/// Decides which password is hashed next and which job is refused, so that no network and no
/// account takes all places.
///
/// A value without clocks and threads: jobs are submitted and finished, and it returns which start.
struct HashingQueue {
  enum Submission: Equatable {
    case starts
    case waits
    /// Waits in the place of this job, which is refused.
    case displaces(Int)
    case refused
  }

  /// Maximum jobs, waiting and running. At three per second and core, later ones would wait longer
  /// than their clients do.
  static let placesMax = 32
  static let placesPerNetwork = 4
  static let placesPerBlock = 8
  static let placesPerAccount = 4

  private struct Job {
    let id: Int
    let share: HashingShare
  }

  private let runningMax: Int
  private var running: [Job] = []
  /// In order of arrival.
  private var waiting: [Job] = []
  /// The last turns of blocks and networks that have jobs here.
  private var turns: [String: Int] = [:]
  private var turn = 0

  /// - Parameter runningMax: the maximum number of concurrent jobs.
  init(runningMax: Int) {
    self.runningMax = runningMax
  }

  /// - Parameter id: unique among the jobs here.
  mutating func submit(_ id: Int, _ share: HashingShare) -> Submission {
    let job = Job(id: id, share: share)
    guard hasRoom(for: share) else { return .refused }
    if running.count < runningMax, waiting.isEmpty {
      start(job)
      return .starts
    }
    guard running.count + waiting.count >= Self.placesMax else {
      waiting.append(job)
      return .waits
    }
    guard let index = greediest(beside: share) else { return .refused }
    let displaced = waiting.remove(at: index)
    forget(displaced)
    waiting.append(job)
    return .displaces(displaced.id)
  }

  /// - Returns: the job that starts now.
  mutating func finish(_ id: Int) -> Int? {
    guard let index = running.firstIndex(where: { $0.id == id }) else { return nil }
    forget(running.remove(at: index))
    guard running.count < runningMax, let next = nextIndex else { return nil }
    let job = waiting.remove(at: next)
    start(job)
    return job.id
  }

  private mutating func start(_ job: Job) {
    running.append(job)
    turn += 1
    turns["block \(job.share.network.block)"] = turn
    turns["network \(job.share.network.name)"] = turn
  }

  /// Removes turns of blocks and networks without jobs, so that there are few.
  private mutating func forget(_ job: Job) {
    let network = job.share.network
    if places(where: { $0.network.block == network.block }) == 0 {
      turns["block \(network.block)"] = nil
    }
    if places(where: { $0.network == network }) == 0 { turns["network \(network.name)"] = nil }
  }

  private func places(where isCounted: (HashingShare) -> Bool) -> Int {
    running.count { isCounted($0.share) } + waiting.count { isCounted($0.share) }
  }

  private func hasRoom(for share: HashingShare) -> Bool {
    places { $0.network == share.network } < Self.placesPerNetwork
      && places { $0.network.block == share.network.block } < Self.placesPerBlock
      && places { $0.account == share.account } < Self.placesPerAccount
  }

  /// The last waiting job of the block with the most places, if that block has more than the
  /// newcomer's would have.
  private func greediest(beside share: HashingShare) -> Int? {
    func size(_ block: String) -> Int { places { $0.network.block == block } }
    let sizes = waiting.map { size($0.share.network.block) }
    guard let largest = sizes.max(), largest > size(share.network.block) + 1 else { return nil }
    return sizes.lastIndex(of: largest)
  }

  /// The next job: the first one of the longest-waiting network of the longest-waiting block.
  private var nextIndex: Int? {
    func rank(_ job: Job) -> (Int, Int) {
      (
        turns["block \(job.share.network.block)"] ?? 0,
        turns["network \(job.share.network.name)"] ?? 0
      )
    }
    return waiting.indices.min { rank(waiting[$0]) < rank(waiting[$1]) }
  }
}

/// The network and account that a hashing job is counted for.
struct HashingShare: Hashable, Sendable {
  let network: ClientNetwork
  /// An account, or an account on one of the networks that it has signed in from.
  let account: String

  init(network: ClientNetwork, account: String) {
    self.network = network
    self.account = account
  }

  /// A network that the account has signed in from has its own places, so attempts from other
  /// networks leave room for it.
  init(account: String, from client: ClientOrigin) {
    self.init(
      network: client.network,
      account: client.isKnown ? "\(account) from \(client.network.name)" : account)
  }
}
