import LosslessJSON

/// The fields of one stored row (an entity's fields or a result's roots) under the order rule.
/// Pure, without a database.
///
/// Each field keeps the number of the call that wrote it. Fields that no call in flight is old
/// enough to dispute need no number of their own, so a quiet row has only its `call`. See
/// `DESIGN.md` for why every arrival order ends in the same fields.
struct RowState {
  struct Field: Equatable {
    let name: String
    var value: [UInt8]
    var call: Int64
    var history: FieldHistory?
  }

  /// The outcome of writing one field.
  enum Outcome {
    case same
    case changed
    /// The value was merged with the stored one.
    case merged
    /// A later call wrote the field or deleted the row.
    case refused
  }

  private(set) var fields: [Field]
  /// The call of the last deletion: values of calls that began before it are refused.
  private(set) var barrier: Int64

  /// A row that does not exist, or a tombstone.
  init(barrier: Int64 = 0) {
    fields = []
    self.barrier = barrier
  }

  /// - Parameters:
  ///   - fields: the stored JSON object.
  ///   - stamps: see ``encodedStamps(writing:horizon:)``.
  ///   - call: the number of every field that `stamps` does not name.
  init(fields: [UInt8], stamps: [UInt8]?, call: Int64, barrier: Int64) throws(StorageError) {
    do throws(JSONParseError) {
      let stamps = try stamps.map { bytes throws(JSONParseError) in try StampsText(bytes) }
      self.fields = try JSONDocument(checked: fields).root.members.map { member in
        let name = member.name
        let history = stamps?.history(of: name)
        return Field(
          name: name, value: Array(member.value.rawBytes),
          call: history?.lastCall ?? stamps?.call(of: name) ?? call, history: history)
      }
    } catch {
      throw .corrupt("a stored row is not valid JSON: \(error)")
    }
    self.barrier = barrier
  }

  var isEmpty: Bool { fields.isEmpty }

  // MARK: Events

  /// Stores a list with null for unknown elements, if no complete list is stored.
  ///
  /// It ranks below every complete list, so that the order in which responses arrive does not
  /// matter: an older complete list still replaces it.
  ///
  /// - Parameter overErrors: whether the stored row came with errors, so that its list with null
  ///   can be an incomplete one too.
  mutating func writePartial(_ name: String, _ value: [UInt8], call: Int64, overErrors: Bool) {
    guard call >= barrier else { return }
    guard let index = fields.firstIndex(where: { $0.name == name }) else {
      return fields.append(Field(name: name, value: value, call: barrier, history: nil))
    }
    guard overErrors, fields[index].history == nil,
      let stored = try? JSONDocument(checked: fields[index].value), Self.holdsNull(stored.root)
    else { return }
    fields[index].value = value
  }

  private static func holdsNull(_ list: JSONNode) -> Bool {
    list.kind == .array && list.elements.contains { $0.kind == .null || holdsNull($0) }
  }

  mutating func write(
    _ name: String, _ value: [UInt8], merges: Bool, call: Int64, horizon: Int64
  ) -> Outcome {
    guard call >= barrier else { return .refused }
    let layer = FieldHistory.Layer(call: call, merges: merges, value: value)
    let keepsHistory = merges && call > horizon
    guard let index = fields.firstIndex(where: { $0.name == name }) else {
      let history = keepsHistory ? FieldHistory(base: nil, layers: [layer]) : nil
      fields.append(Field(name: name, value: value, call: call, history: history))
      return .changed
    }
    let old = fields[index]
    if var history = old.history {
      history.insert(layer)
      return update(index, with: history, written: value, horizon: horizon)
    }
    guard call >= old.call else { return .refused }
    if keepsHistory {
      // A value written above the horizon replaced everything below it.
      var history =
        old.call > horizon
        ? FieldHistory(
          base: nil,
          layers: [FieldHistory.Layer(call: old.call, merges: false, value: old.value)])
        : FieldHistory(base: old.value, layers: [])
      history.insert(layer)
      return update(index, with: history, written: value, horizon: horizon)
    }
    let new = merges ? EmbeddedMerge.merge(old.value, value) : value
    fields[index].value = new
    fields[index].call = call
    if new == old.value { return new == value ? .same : .merged }
    return new == value ? .changed : .merged
  }

  private mutating func update(
    _ index: Int, with history: FieldHistory, written: [UInt8], horizon: Int64
  ) -> Outcome {
    var history = history
    let old = fields[index].value
    let new = history.folded ?? written
    let last = history.lastCall
    history.compact(horizon: horizon)
    fields[index].value = new
    fields[index].call = last
    fields[index].history = history.isNeeded ? history : nil
    guard new == written else { return .merged }
    return new == old ? .same : .changed
  }

  /// Applies a deletion: values of older calls are removed, those of later calls stay.
  mutating func delete(call: Int64) {
    guard call > barrier else { return }
    barrier = call
    fields = fields.compactMap { field in
      guard var history = field.history else { return field.call < call ? nil : field }
      history.removeOlder(than: call)
      guard let value = history.folded else { return nil }
      var field = field
      field.value = value
      field.history = history.isNeeded ? history : nil
      return field
    }
  }

  /// Compacts histories that no arrival can precede. Called before a row is stored.
  mutating func settle(horizon: Int64) {
    for index in fields.indices {
      guard var history = fields[index].history else { continue }
      history.compact(horizon: horizon)
      fields[index].history = history.isNeeded ? history : nil
    }
  }

  // MARK: Stored form

  var encodedFields: [UInt8] {
    var writer = JSONWriter()
    writer.reserve(fields.reduce(2) { $0 + $1.name.utf8.count + $1.value.count + 4 })
    writer.beginObject()
    for field in fields {
      writer.name(field.name)
      writer.raw(field.value)
    }
    writer.endObject()
    return writer.bytes
  }

  /// Returns the row's `call` and `stamps`: the call number of most fields, and the exceptions as
  /// JSON text.
  ///
  /// A field whose number is not above the horizon is stored as 0 if it needs an entry at all:
  /// nothing that can still arrive is older.
  func encodedStamps(writing call: Int64, horizon: Int64) -> (call: Int64, stamps: [UInt8]?) {
    let newest = fields.map(\.call).max() ?? call
    let isQuiet = max(newest, call) <= horizon && !fields.contains { $0.history != nil }
    if isQuiet { return (newest, nil) }
    let exceptions = fields.filter { $0.call != call || $0.history != nil }
    guard !exceptions.isEmpty else { return (call, nil) }
    return (call, StampsText.encode(exceptions, horizon: horizon))
  }
}
