import Gateway
import HTTPWire
import LosslessJSON
import Model

/// Requests of entity writes. A list is read by ``Gateway/EntityWriteList``.
enum EntityWritesDocument {
  static func body(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    do throws(JSONParseError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
  }

  /// The condition of a write. `If-Match` (RFC 9110 section 13.1.1) is `*`, entity tags of reads of the
  /// entity in any content coding, or values of `_rev` in quotes. `If-None-Match` (section 13.1.2) can
  /// only be `*`.
  static func match(
    ifMatch: String?, ifNoneMatch: String?
  ) throws(Failure) -> EntityWriteRequest.Match? {
    if let ifNoneMatch {
      guard ifNoneMatch == "*", ifMatch == nil else {
        throw Failure(
          .malformedRequest, "Writes support either If-Match or `If-None-Match: *`, not both.")
      }
      return .absent
    }
    guard let ifMatch else { return nil }
    var validators: [String] = []
    for part in ifMatch.split(separator: ",") {
      if part.split(whereSeparator: { $0 == " " || $0 == "\t" }) == ["*"] { return .any }
      guard let tag = EntityTag(parsing: String(part)) else {
        throw Failure(
          .malformedRequest,
          "If-Match must be *, entity tags of the entity, or values of its _rev in quotes.")
      }
      // A weak tag never matches here.
      if !tag.isWeak { validators.append(tag.uncoded.opaque) }
    }
    return .validators(validators)
  }

  /// - Returns: the valid operations, and the faults of the others.
  static func list(
    _ body: JSONValue
  ) throws(Failure) -> (requests: [EntityWriteRequest], faults: [Failure.Detail]) {
    guard let items = body.array else {
      throw Failure(.malformedRequest, "The body must be an array of operations.")
    }
    // Checked before they are read, because each could add a fault.
    try EntityWrites.checkCount(items.count)
    return EntityWriteList.read(items)
  }

  static func path(of key: EntityKey) -> String {
    "/v1/entities/\(PercentCoding.encode(key.type))/\(PercentCoding.encode(key.key))"
  }
}
