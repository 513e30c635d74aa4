import Model

/// Decides which password is hashed next and which has no place, so that no network and no account
/// takes the places of all others.
///
/// A value without clocks and threads: jobs are submitted and finished, and it says which start.
struct HashingQueue {
  enum Submission: Equatable {
    case starts
    case waits
    /// Waits, in the place of this job, which is refused.
    case displaces(Int)
    case refused
  }

  /// Waiting and under way. With three a second and a core, later ones would wait longer than their
  /// clients do.
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
  /// When a block's and a network's job was last started, of those that have a job here.
  private var turns: [String: Int] = [:]
  private var turn = 0

  /// - Parameter runningMax: how many are hashed at once.
  init(runningMax: Int) {
    self.runningMax = runningMax
  }

  /// - Parameter id: of no other job that is here.
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

  /// Keeps turns of those alone that have a job here, so that they stay few.
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

  /// The waiting job that came last of the block with the most places, where that has more than the
  /// newcomer's would have.
  private func greediest(beside share: HashingShare) -> Int? {
    func size(_ block: String) -> Int { places { $0.network.block == block } }
    let sizes = waiting.map { size($0.share.network.block) }
    guard let largest = sizes.max(), largest > size(share.network.block) + 1 else { return nil }
    return sizes.lastIndex(of: largest)
  }

  /// Of the block that has waited longest for a turn, its network that has, and of that the job that
  /// came first.
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
