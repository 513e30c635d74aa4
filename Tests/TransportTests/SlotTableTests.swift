import Testing

@testable import Transport

struct SlotTableTests {
  @Test("A stale token finds nothing once its slot is reused")
  func staleTokenFindsNothingOnceTheSlotIsTakenAgain() {
    var table = SlotTable()
    let first = Receiver()
    let second = Receiver()
    let stale = table.insert(first)
    table.remove(stale)
    let fresh = table.insert(second)
    #expect(stale.slot == fresh.slot)
    #expect(table[stale] == nil)
    #expect(table[fresh] === second)
  }

  @Test("Removing a token twice frees its slot once")
  func removingTwiceFreesTheSlotOnce() {
    var table = SlotTable()
    let token = table.insert(Receiver())
    table.remove(token)
    table.remove(token)
    #expect(table.count == 0)
    let one = table.insert(Receiver())
    let two = table.insert(Receiver())
    #expect(one.slot != two.slot)
  }

  @Test("Reserved tokens belong to no slot")
  func reservedTokensNameNoSlot() {
    var table = SlotTable()
    _ = table.insert(Receiver())
    _ = table.insert(Receiver())
    #expect(table[.wake] == nil)
    #expect(table[.timer] == nil)
  }
}

private final class Receiver: EventReceiver {
  func receive(_ readiness: Readiness, on reactor: isolated Reactor) {}
  func loopStops() {}
}
