import Foundation
import Model
import Testing

/// Every queue that a few operations on two objects can lead to, with every outcome of every attempt,
/// crashes and commands in between: each step keeps the order and freezes sent mutations, and no queue
/// stalls without a reason that the client can see.
///
/// Here: up to four operations of the five most distinctive kinds, and up to two of all thirteen kinds
/// with all cancels and discards of clients. `LARDER_QUEUE_OPERATIONS` makes
/// both longer by so many operations; `Scripts/queue-check` asks for one more, in a release build.
/// `LARDER_QUEUE_COMPLETE` adds five operations of all kinds: millions of states.
struct QueueExhaustionTests {
  /// The most distinctive kinds are explored deeper than all kinds with all commands.
  @Test(
    "Every queue of a few operations keeps the invariants", .timeLimit(.minutes(60)),
    arguments: [(false, 4), (true, 2)])
  func everySmallQueueIsSound(isWide: Bool, operations: Int) {
    let more = ProcessInfo.processInfo.environment["LARDER_QUEUE_OPERATIONS"].flatMap(Int.init)
    let kinds = isWide ? ExploredKind.allCases : ExploredKind.essential
    var explorer = QueueExplorer(kinds: kinds, isWide: isWide)
    explorer.explore(operations: operations + (more ?? 0))
    let faults = explorer.faults.joined(separator: "\n")
    #expect(explorer.faults.isEmpty, "\(faults)")
    #expect(explorer.stateCount > 100)
    print("queue: \(explorer.stateCount) states, \(explorer.stepCount) steps")
  }

  @Test(
    "Every queue of five operations of all kinds keeps the invariants",
    .timeLimit(.minutes(240)),
    .enabled(if: ProcessInfo.processInfo.environment["LARDER_QUEUE_COMPLETE"] != nil))
  func everyQueueOfFiveIsSound() {
    var explorer = QueueExplorer(kinds: ExploredKind.allCases, isWide: false)
    explorer.explore(operations: 5)
    let faults = explorer.faults.joined(separator: "\n")
    #expect(explorer.faults.isEmpty, "\(faults)")
    print("queue: \(explorer.stateCount) states, \(explorer.stepCount) steps, complete")
  }

  /// A long queue is loaded in part.
  @Test(
    "The first mutations of a queue give the same decisions as all of it", .timeLimit(.minutes(60)),
    arguments: [(false, 3), (true, 2)])
  func headsDecideLikeWholeQueues(isWide: Bool, operations: Int) {
    let kinds = isWide ? ExploredKind.allCases : ExploredKind.essential
    var explorer = QueueExplorer(kinds: kinds, isWide: isWide, checksHeads: true)
    explorer.explore(operations: operations)
    let faults = explorer.faults.joined(separator: "\n")
    #expect(explorer.faults.isEmpty, "\(faults)")
    #expect(explorer.stateCount > 100)
  }
}
