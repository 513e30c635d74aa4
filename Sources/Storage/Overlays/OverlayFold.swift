import LosslessJSON
import Model

/// Folds the changes of one entity, in the order of the queue, into the row in the device's own
/// scope.
///
/// The row holds only what the changes set. Everything else is read from the wider scopes, field by
/// field, as everywhere; so nothing has to be done here when those change, and nothing is left of a
/// change that is reverted.
struct OverlayFold {
  /// The member of a row's fields that lists the ids of pending mutations: no GraphQL name begins
  /// with `$`.
  static let pendingMember = StoredForm.pendingMember

  /// The entity's key, and the integer fields: a key in one of these is written as a number, as
  /// upstream does, even if the client or a temporary id had it as a string.
  private let key: String
  private let integers: Set<String>
  /// Whether the changes only set fields of an entity that is there, and do not create it.
  private(set) var needsEntity = true
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
      needsEntity = false
      isDeleted = true
      fields = []
    case .merge where isDeleted:
      return
    case .create, .merge:
      if action == .create { needsEntity = false }
      isDeleted = false
      let members: [JSONMember]
      do throws(JSONParseError) {
        members = try JSONValue(checked: text).members ?? []
      } catch {
        throw .corrupt("a stored overlay is not valid JSON: \(error)")
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

  /// The encoded fields; nil for a tombstone, which hides the entity.
  var row: [UInt8]? {
    guard !isDeleted else { return nil }
    let pending = JSONMember(Self.pendingMember, .array(mutations.map(JSONValue.string)))
    return JSONValue.object(fields + [pending]).bytes
  }
}
