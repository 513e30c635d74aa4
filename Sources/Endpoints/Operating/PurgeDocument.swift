import LosslessJSON
import Model

/// The body of `POST /v1/admin/purge`: `{"operation"?, "type"?, "id"?, "tag"?}`, each a string or
/// a list of strings; `id` needs one `type`.
enum PurgeDocument {
  static func targets(_ bytes: [UInt8]) throws(Failure) -> [InvalidationTarget] {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let members = body.members else {
      throw Failure(.malformedRequest, "The body is a JSON object.")
    }
    var faults: [Failure.Detail] = []
    var named: [String: [String]] = [:]
    for member in members {
      guard ["operation", "type", "id", "tag"].contains(member.name) else {
        faults.append(fault(member.name, "is not one of operation, type, id, tag"))
        continue
      }
      guard let texts = texts(of: member.value), !texts.isEmpty else {
        faults.append(fault(member.name, "is a string or a list of strings"))
        continue
      }
      named[member.name] = texts
    }
    let types = named["type"] ?? []
    let ids = named["id"] ?? []
    if !ids.isEmpty, types.count != 1 { faults.append(fault("id", "needs exactly one type")) }
    if faults.isEmpty, named.isEmpty {
      faults.append(fault("", "names nothing: give operation, type, id or tag"))
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The purge cannot be read.", details: faults)
    }
    let entities = ids.map { InvalidationTarget.entity(EntityKey(type: types[0], key: $0)) }
    return entities + (ids.isEmpty ? types.map { .type($0) } : [])
      + (named["operation"] ?? []).map { .operation($0) }
      + (named["tag"] ?? []).map { .tag($0) }
  }

  private static func texts(of value: JSONValue) -> [String]? {
    if let text = value.string { return [text] }
    guard let elements = value.array else { return nil }
    let texts = elements.compactMap(\.string)
    return texts.count == elements.count ? texts : nil
  }

  private static func fault(_ name: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(name.isEmpty ? "" : "/\(name)"), detail: detail)
  }
}
