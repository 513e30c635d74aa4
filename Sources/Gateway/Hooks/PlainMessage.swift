import LosslessJSON
import Model
import Upstream

/// The body of a plain webhook: `{"updates": [entities], "deletes": ["Film:9"],
/// "invalidates": ["TopFilms", "tag:home"], "timestamp"?}`.
///
/// Everything is checked before anything is stored. `timestamp` is when the changes happened; without
/// it, the time of the attempt orders messages as far as it can.
struct PlainMessage {
  private static let members = ["updates", "deletes", "invalidates", "timestamp"]
  /// Limit of elements in each list.
  static let elementsMax = 1_000

  let hook: String
  let outline: SchemaOutline

  /// - Parameters:
  ///   - attempted: the time in the signature, in seconds.
  func read(
    _ body: JSONValue, event: String, attempted: Int64, received: Timestamp
  ) throws(Failure) -> HookMessage {
    var reader = ReceivedEntityReader(outline: outline)
    for member in body.members ?? [] where !Self.members.contains(member.name) {
      reader.note(
        "is unknown; the members are \(Self.members.joined(separator: ", "))",
        at: "".appending(pointerMember: member.name))
    }
    var moment = HookDelivery.Moment(microseconds: attempted * 1_000_000, isExact: false)
    if let given = body["timestamp"] {
      if let read = given.string.flatMap({ HookDelivery.Moment(iso8601: $0, isExact: true) }) {
        moment = read
      } else {
        reader.note("must be a moment such as 2026-01-02T03:04:05.678Z", at: "/timestamp")
      }
    }
    var delivery = HookDelivery(hook: hook, event: event, moment: moment, received: received)
    for (index, update) in elements(body, "updates", &reader).enumerated() {
      reader.read(update, at: "/updates/\(index)")
    }
    var notStored = 0
    for (index, name) in elements(body, "deletes", &reader).enumerated() {
      do throws(SchemaOutline.UnknownName) {
        switch try outline.entity(named: name) {
        case .stored(let key, isPublic: true): delivery.deletions.append(key)
        case .stored(let key, isPublic: false): delivery.privateDeletions.append(key)
        case .notStored: notStored += 1
        }
      } catch {
        reader.note(error.detail, at: "/deletes/\(index)")
      }
    }
    for (index, name) in elements(body, "invalidates", &reader).enumerated() {
      guard let name = name.string else {
        reader.note("must be a string", at: "/invalidates/\(index)")
        continue
      }
      do throws(SchemaOutline.UnknownName) {
        delivery.invalidations += try outline.targets(named: name)
      } catch {
        reader.note(error.detail, at: "/invalidates/\(index)")
      }
    }
    let deleted = Set(delivery.deletions + delivery.privateDeletions)
    for key in reader.keys where deleted.contains(key) {
      reader.note("are both in updates and in deletes: \(key)", at: "/deletes")
    }
    guard reader.faults.isEmpty else {
      throw Failure(
        .invalidWebhook, "The webhook's body is invalid; nothing of it was stored.",
        details: reader.faults)
    }
    delivery.take(reader)
    let isIgnored = delivery.isEmpty && (notStored > 0 || reader.unknownCount > 0)
    return HookMessage(
      delivery: delivery, ignored: isIgnored ? "no operation selects the types named" : nil)
  }

  private func elements(
    _ body: JSONValue, _ name: String, _ reader: inout ReceivedEntityReader
  ) -> [JSONValue] {
    guard let list = body[name], !list.isNull else { return [] }
    guard let elements = list.array else {
      reader.note("must be a list", at: "/\(name)")
      return []
    }
    guard elements.count <= Self.elementsMax else {
      reader.note(
        "has \(elements.count) elements; the limit is \(Self.elementsMax)", at: "/\(name)")
      return []
    }
    return elements
  }
}

extension HookDelivery {
  /// Takes the entities that were read without a fault.
  mutating func take(_ reader: ReceivedEntityReader) {
    bytes = reader.bytes
    entities = reader.entities
    let written = Set(entities.map(\.key))
    changed = reader.keys.filter { !written.contains($0) }
    withheld = reader.withheld
  }

  var isEmpty: Bool {
    entities.isEmpty && changed.isEmpty && deletions.isEmpty && privateDeletions.isEmpty
      && invalidations.isEmpty
  }
}
