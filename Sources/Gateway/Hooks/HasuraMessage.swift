import LosslessJSON
import Model
import Upstream

/// The body of a Hasura event trigger (v2): `{"id", "created_at", "table": {"schema", "name"},
/// "event": {"op", "data": {"old", "new"}}, …}`, mapped to entities by the settings of its table.
struct HasuraMessage {
  private static let idBytesMax = 255

  private enum Operation: String, CaseIterable {
    case insert = "INSERT"
    case update = "UPDATE"
    case delete = "DELETE"
    /// Sent by an operator from the console.
    case manual = "MANUAL"
  }

  private struct Event {
    let id: String
    let moment: HookDelivery.Moment?
    /// `schema.name`.
    let table: (schema: String, name: String)
    let operation: Operation
    let old: JSONValue?
    let new: JSONValue?
  }

  let hook: String
  let tables: [String: HookTable]
  let outline: SchemaOutline

  func read(_ body: JSONValue, received: Timestamp) throws(Failure) -> HookMessage {
    let event = try event(body)
    var delivery = HookDelivery(
      hook: hook, event: event.id, moment: event.moment, received: received)
    let (schema, name) = event.table
    guard
      let table = tables["\(schema).\(name)"]
        ?? (schema == HookTable.defaultSchema ? tables[name] : nil)
    else {
      let setting = schema == HookTable.defaultSchema ? name : "\(schema).\(name)"
      return HookMessage(
        delivery: delivery, ignored: "hooks.in.\(hook).tables does not name \(setting)")
    }
    guard outline.isStored(table.type) else {
      return HookMessage(
        delivery: delivery, ignored: "no operation selects the type \(table.type)")
    }
    var reader = ReceivedEntityReader(outline: outline)
    if let new = event.new, event.operation != .delete {
      let row = entity(new, of: table)
      reader.read(row.entity, at: "/event/data/new", names: row.columns)
    }
    if let old = event.old, reader.faults.isEmpty, event.operation != .insert {
      do throws(SchemaOutline.UnknownName) {
        try delete(old, of: table, besides: reader.keys, from: &delivery)
      } catch  where event.operation == .delete {
        reader.note(error.detail, at: "/event/data/old")
      } catch {
        // The old state of a row that is stored can have less than its key.
      }
    }
    guard reader.faults.isEmpty else {
      throw Failure(
        .invalidWebhook,
        "The row does not fit the type \(table.type) (hooks.in.\(hook).tables); nothing of it was "
          + "stored.", details: reader.faults)
    }
    if event.operation != .update { delivery.invalidations = table.invalidations }
    delivery.take(reader)
    return HookMessage(delivery: delivery)
  }

  // MARK: Rows

  /// Notes the deletion of a row, unless it is the old state of a row that exists under the same
  /// key.
  private func delete(
    _ row: JSONValue, of table: HookTable, besides kept: [EntityKey],
    from delivery: inout HookDelivery
  ) throws(SchemaOutline.UnknownName) {
    switch try outline.entity(named: entity(row, of: table).entity) {
    case .stored(let key, let isPublic):
      guard !kept.contains(key) else { return }
      if isPublic { delivery.deletions.append(key) } else { delivery.privateDeletions.append(key) }
    case .notStored: return
    }
  }

  /// A row as an entity, and the columns by field.
  private func entity(
    _ row: JSONValue, of table: HookTable
  ) -> (entity: JSONValue, columns: [String: String]) {
    let fields = outline.fieldNames(of: table.type) ?? []
    var members = [JSONMember(StoredForm.typenameMember, .string(table.type))]
    var columns: [String: String] = [:]
    for member in row.members ?? [] {
      let names = table.columns[member.name] ?? (fields.contains(member.name) ? [member.name] : [])
      for name in names {
        members.append(JSONMember(name, member.value))
        columns[name] = member.name
      }
    }
    return (.object(members), columns)
  }

  // MARK: The event

  private func event(_ body: JSONValue) throws(Failure) -> Event {
    var faults: [Failure.Detail] = []
    func note(_ detail: String, at pointer: String) {
      faults.append(Failure.Detail(place: .pointer(pointer), detail: detail))
    }
    let id = body["id"]?.string
    if !(id.map { (1...Self.idBytesMax).contains($0.utf8.count) && !$0.utf8.contains(0) } ?? false)
    {
      note("must be the event's id", at: "/id")
    }
    let moment = body["created_at"]?.string
      .flatMap { HookDelivery.Moment(iso8601: $0, isExact: true) }
    if moment == nil, let created = body["created_at"], !created.isNull {
      note("must be a moment such as 2026-01-02T03:04:05.678901Z", at: "/created_at")
    }
    let name = body["table"]?["name"]?.string
    if name == nil { note("must be the table's name", at: "/table/name") }
    let operation = body["event"]?["op"]?.string.flatMap(Operation.init(rawValue:))
    if operation == nil {
      let names = Operation.allCases.map(\.rawValue).joined(separator: ", ")
      note("must be one of \(names)", at: "/event/op")
    }
    let data = body["event"]?["data"]
    let (old, new) = (Self.row(data?["old"]), Self.row(data?["new"]))
    switch operation {
    case .insert, .update:
      if new == nil { note("must be the row", at: "/event/data/new") }
    case .delete:
      if old == nil { note("must be the row", at: "/event/data/old") }
    case .manual:
      if old == nil, new == nil { note("must have a row", at: "/event/data") }
    case nil: break
    }
    guard faults.isEmpty, let id, let name, let operation else {
      throw Failure(
        .invalidWebhook, "The body is not an event of a Hasura event trigger.", details: faults)
    }
    return Event(
      id: id, moment: moment,
      table: (body["table"]?["schema"]?.string ?? HookTable.defaultSchema, name),
      operation: operation, old: old, new: operation == .manual ? new ?? old : new)
  }

  private static func row(_ value: JSONValue?) -> JSONValue? {
    value?.members == nil ? nil : value
  }
}
