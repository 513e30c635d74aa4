import Foundation
import Model
import Testing

/// Every queue that up to some operations on two objects can lead to, with every outcome of every
/// attempt, crashes and commands between: each step keeps the order and freezes what was sent, and
/// no queue stands still without a reason that is told.
///
/// Here: up to four operations of the five kinds that the tables tell apart most, and up to two of
/// all thirteen kinds with everything that clients cancel or discard. `LARDER_QUEUE_OPERATIONS` makes
/// both longer by so many operations; `Scripts/queue-check` asks for one more, in a release build.
/// `LARDER_QUEUE_COMPLETE` adds five operations of all kinds: millions of states.
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

  @Test(
    .timeLimit(.minutes(240)),
    .enabled(if: ProcessInfo.processInfo.environment["LARDER_QUEUE_COMPLETE"] != nil))
  func everyQueueOfFiveOperationsOfAllKindsIsSound() {
    var explorer = QueueExplorer(kinds: ExploredKind.allCases, isWide: false)
    explorer.explore(operations: 5)
    let faults = explorer.faults.joined(separator: "\n")
    #expect(explorer.faults.isEmpty, "\(faults)")
    print("queue: \(explorer.stateCount) states, \(explorer.stepCount) steps, complete")
  }

  /// A long queue is read in part.
  @Test(.timeLimit(.minutes(60)), arguments: [(false, 3), (true, 2)])
  func theFirstOfAQueueDecideAsAllOfIt(isWide: Bool, operations: Int) {
    let kinds = isWide ? ExploredKind.allCases : ExploredKind.essential
    var explorer = QueueExplorer(kinds: kinds, isWide: isWide, checksHeads: true)
    explorer.explore(operations: operations)
    let faults = explorer.faults.joined(separator: "\n")
    #expect(explorer.faults.isEmpty, "\(faults)")
    #expect(explorer.stateCount > 100)
  }
}
