import LosslessJSON
import Model

/// What the changes that lie over one entity come to, in the order of the queue: the row that
/// stands in the device's own scope.
///
/// Only what the changes say is in it. What lies under them is read from the wider scopes, field by
/// field, as everywhere; so nothing has to be done here when that changes, and nothing is left of a
/// change that is taken back.
struct OverlayFold {
  /// Of the ids of mutations, in a row's fields: no GraphQL name begins with `$`.
  static let pendingMember = StoredForm.pendingMember

  /// The entity's key, and the fields that hold integers: where the key stands in one of these it is
  /// a number, as upstream writes it, also if the client or a temporary id before it was a text.
  private let key: String
  private let integers: Set<String>
  private var isDeleted = false
  private var fields: [JSONMember] = []
  private var mutations: [String] = []

  init(key: String = "", integers: Set<String> = []) {
    self.key = key
    self.integers = integers
  }

  mutating func add(
    _ action: OverlayChange.Action, fields text: [UInt8], mutation: String
  ) throws(StorageError) {
    if !mutations.contains(mutation) { mutations.append(mutation) }
    switch action {
    case .delete:
      isDeleted = true
      fields = []
    case .merge where isDeleted:
      return
    case .create, .merge:
      isDeleted = false
      let members: [JSONMember]
      do throws(JSONParseError) {
        members = try JSONValue(checked: text).members ?? []
      } catch {
        throw .corrupt("a stored change is not JSON: \(error)")
      }
      for member in members { set(member) }
    }
  }

  private mutating func set(_ member: JSONMember) {
    var member = member
    if integers.contains(member.name), member.value.string == key, let number = Int64(key) {
      member = JSONMember(member.name, .number(JSONNumber(number)))
    }
    if let index = fields.firstIndex(where: { $0.name == member.name }) {
      fields[index] = member
    } else {
      fields.append(member)
    }
  }

  /// Nil hides the entity.
  var row: [UInt8]? {
    guard !isDeleted else { return nil }
    let pending = JSONMember(Self.pendingMember, .array(mutations.map(JSONValue.string)))
    return JSONValue.object(fields + [pending]).bytes
  }
}
