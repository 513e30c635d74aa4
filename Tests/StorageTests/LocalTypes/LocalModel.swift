import Filtering
import LosslessJSON
import Model

/// A model of ``LocalWorld``'s entities that stores relationships as pairs, simple enough to be correct.
struct LocalModel {
  enum Step {
    case makeList(String)
    case makeItem(String, list: String, tags: [String])
    case makeTag(String)
    case makeSheet(String)
    case move(item: String, to: String)
    case retag(item: String, [String])
    case setMembers(tag: String, [String])
    case setItems(list: String, [String])
    case setSheet(list: String, String?)
    case delete(String, String)
  }

  private struct Tagging: Hashable {
    let item: String
    let tag: String
  }

  private(set) var lists: Set<String> = []
  private(set) var tags: Set<String> = []
  private(set) var sheets: Set<String> = []
  /// The list of each item.
  private(set) var items: [String: String] = [:]
  private var tagged: Set<Tagging> = []
  /// The sheet of each list that has one.
  private(set) var sheetOfList: [String: String] = [:]

  func items(of tag: String) -> Set<String> {
    Set(tagged.filter { $0.tag == tag }.map(\.item))
  }

  func tags(of item: String) -> Set<String> {
    Set(tagged.filter { $0.item == item }.map(\.tag))
  }

  /// - Returns: whether the step is allowed; if not, nothing changes.
  mutating func perform(_ step: Step) -> Bool {
    switch step {
    case .makeList(let id): return lists.insert(id).inserted
    case .makeTag(let id): return tags.insert(id).inserted
    case .makeSheet(let id): return sheets.insert(id).inserted
    case .makeItem(let id, let list, let names):
      guard items[id] == nil, lists.contains(list), tags.isSuperset(of: names) else { return false }
      items[id] = list
      tagged.formUnion(names.map { Tagging(item: id, tag: $0) })
    case .move(let item, let list):
      guard items[item] != nil, lists.contains(list) else { return false }
      items[item] = list
    case .retag(let item, let names):
      guard items[item] != nil, tags.isSuperset(of: names) else { return false }
      tagged = tagged.filter { $0.item != item }
      tagged.formUnion(names.map { Tagging(item: item, tag: $0) })
    case .setMembers(let tag, let ids):
      guard tags.contains(tag), ids.allSatisfy({ items[$0] != nil }) else { return false }
      tagged = tagged.filter { $0.tag != tag }
      tagged.formUnion(ids.map { Tagging(item: $0, tag: tag) })
    case .setItems(let list, let ids):
      let old = items.filter { $0.value == list }.keys
      guard lists.contains(list), ids.allSatisfy({ items[$0] != nil }),
        old.allSatisfy({ ids.contains($0) })
      else { return false }
      for id in ids { items[id] = list }
    case .setSheet(let list, let sheet):
      guard lists.contains(list), sheet.map(sheets.contains) ?? true else { return false }
      sheetOfList = sheetOfList.filter { $0.value != sheet }
      sheetOfList[list] = sheet
    case .delete(let type, let id): return delete(type, id)
    }
    return true
  }

  private mutating func delete(_ type: String, _ id: String) -> Bool {
    switch type {
    case "List":
      guard sheetOfList[id] == nil, lists.remove(id) != nil else { return false }
      for item in items.filter({ $0.value == id }).keys { _ = delete("Item", item) }
      return true
    case "Item":
      tagged = tagged.filter { $0.item != id }
      return items.removeValue(forKey: id) != nil
    case "Tag":
      tagged = tagged.filter { $0.tag != id }
      return tags.remove(id) != nil
    default:
      sheetOfList = sheetOfList.filter { $0.value != id }
      return sheets.remove(id) != nil
    }
  }
}

extension LocalModel.Step {
  /// The same step as a write.
  var operation: LocalOperation {
    switch self {
    case .makeList(let id):
      LocalWorld.operation(.insert, LocalWorld.list, id, ["title": "a list"])
    case .makeTag(let id): LocalWorld.operation(.insert, LocalWorld.tag, id)
    case .makeSheet(let id): LocalWorld.operation(.insert, LocalWorld.sheet, id)
    case .makeItem(let id, let list, let tags):
      LocalWorld.operation(
        .insert, LocalWorld.item, id,
        ["list": .string(list), "tags": .array(tags.map { .string($0) })])
    case .move(let item, let list):
      LocalWorld.operation(.update, LocalWorld.item, item, ["list": .string(list)])
    case .retag(let item, let tags):
      LocalWorld.operation(
        .update, LocalWorld.item, item, ["tags": .array(tags.map { .string($0) })])
    case .setMembers(let tag, let items):
      LocalWorld.operation(
        .update, LocalWorld.tag, tag, ["items": .array(items.map { .string($0) })])
    case .setItems(let list, let items):
      LocalWorld.operation(
        .update, LocalWorld.list, list, ["items": .array(items.map { .string($0) })])
    case .setSheet(let list, let sheet):
      LocalWorld.operation(
        .update, LocalWorld.list, list, ["sheet": sheet.map { .string($0) } ?? .null])
    case .delete(let type, let id):
      LocalWorld.operation(.delete, LocalWorld.schema.types[type] ?? LocalWorld.list, id)
    }
  }
}
