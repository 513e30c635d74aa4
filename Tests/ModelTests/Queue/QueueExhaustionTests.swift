import Foundation
import Model
import Testing

/// Every queue that up to some operations on two objects can lead to, with every outcome of every
/// attempt, crashes and commands between: each step keeps the order and freezes what was sent, and
/// no queue stands still without a reason that is told.
///
/// `LARDER_QUEUE_OPERATIONS` makes the walks longer by so many operations; `Scripts/queue-check` asks
/// for one more in a release build, where that takes seconds too.
struct QueueExhaustionTests {
  /// The kinds that the tables tell apart most go deeper than all of them with all commands.
  @Test(.timeLimit(.minutes(60)), arguments: [(false, 4), (true, 2)])
  func everyQueueOfAFewOperationsIsSound(isWide: Bool, operations: Int) {
    let more = ProcessInfo.processInfo.environment["LARDER_QUEUE_OPERATIONS"].flatMap(Int.init)
    let kinds = isWide ? ExploredKind.allCases : ExploredKind.essential
    var explorer = QueueExplorer(kinds: kinds, isWide: isWide)
    explorer.explore(operations: operations + (more ?? 0))
    let faults = explorer.faults.joined(separator: "\n")
    #expect(explorer.faults.isEmpty, "\(faults)")
    #expect(explorer.stateCount > 100)
    print("queue: \(explorer.stateCount) states, \(explorer.stepCount) steps")
  }
}
