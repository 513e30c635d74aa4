import LosslessJSON
import Model

/// What the bodies of `/v1/admin` have in common.
enum AdminDocument {
  /// - Parameter bytes: none for an empty object.
  static func object(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    guard !bytes.isEmpty else { return [:] }
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard body.members != nil else {
      throw Failure(.malformedRequest, "The body is a JSON object.")
    }
    return body
  }

  static func unknownMembers(of body: JSONValue, known: [String]) -> [Failure.Detail] {
    (body.members ?? []).filter { !known.contains($0.name) }.map {
      fault("/\(escaped($0.name))", "is not one of \(known.joined(separator: ", "))")
    }
  }

  static func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }

  /// A name as a component of a JSON pointer (RFC 6901 section 3).
  static func escaped(_ name: String) -> String {
    String(name.flatMap { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) })
  }
}
