import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

struct LocalPropertyTests {
  private static let ids = ["1", "2", "3", "4"]

  @Test(
    "Random writes keep both sides of relationships equal to a model's",
    arguments: [11, 12, 13, 14] as [UInt64])
  func relationshipsMatchModel(_ seed: UInt64) async throws {
    let folder = TemporaryFolder()
    let store = try LocalWorld.open(folder)
    defer { store.close() }
    var random = SeededGenerator(seed: seed)
    var model = LocalModel()
    var refusals = 0
    for number in 0..<400 {
      let step = Self.step(&random)
      let isAllowed = model.perform(step)
      let head = store.head
      switch try await store.local(step.operation) {
      case .success:
        #expect(isAllowed, "seed \(seed), step \(number): \(step) was done")
      case .failure(let refusal):
        refusals += 1
        #expect(!isAllowed, "seed \(seed), step \(number): \(step) was refused: \(refusal)")
        #expect(store.head == head)
      }
      if number % 20 == 19 { try await compare(store, model, "seed \(seed), step \(number)") }
    }
    #expect(refusals > 20 && refusals < 380, "seed \(seed): \(refusals) refusals")
  }

  private static func step(_ random: inout SeededGenerator) -> LocalModel.Step {
    func id() -> String { ids.randomElement(using: &random) ?? "1" }
    func some() -> [String] {
      ids.filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .makeList(id())
    case 1, 2: return .makeItem(id(), list: id(), tags: some())
    case 3: return .makeTag(id())
    case 4: return .makeSheet(id())
    case 5: return .move(item: id(), to: id())
    case 6: return .retag(item: id(), some())
    case 7: return .setMembers(tag: id(), some())
    case 8: return .setItems(list: id(), some())
    case 9, 10: return .setSheet(list: id(), Bool.random(using: &random) ? id() : nil)
    default:
      return .delete(
        ["List", "Item", "Tag", "Sheet"].randomElement(using: &random) ?? "List", id())
    }
  }

  private func compare(_ store: Store, _ model: LocalModel, _ place: String) async throws {
    for id in Self.ids {
      #expect(try await (store.local("List", id) != nil) == model.lists.contains(id), "\(place)")
      #expect(try await (store.local("Sheet", id) != nil) == model.sheets.contains(id), "\(place)")
      let items = Set(model.items.filter { $0.value == id }.keys)
      #expect(try await Set(store.targets("List", id, "items")) == items, "\(place)")
      #expect(
        try await store.targets("Item", id, "list") == model.items[id].map { [$0] } ?? [],
        "\(place)")
      #expect(try await Set(store.targets("Item", id, "tags")) == model.tags(of: id), "\(place)")
      #expect(try await Set(store.targets("Tag", id, "items")) == model.items(of: id), "\(place)")
      #expect(
        try await store.targets("List", id, "sheet") == model.sheetOfList[id].map { [$0] } ?? [],
        "\(place)")
      let holder = model.sheetOfList.first { $0.value == id }?.key
      #expect(
        try await store.targets("Sheet", id, "list") == holder.map { [$0] } ?? [], "\(place)")
    }
  }
}
