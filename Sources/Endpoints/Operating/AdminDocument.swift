import LosslessJSON
import Model

/// What bodies that are one JSON object have in common.
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
      fault("".appending(pointerMember: $0.name), "is not one of \(known.joined(separator: ", "))")
    }
  }

  static func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }
}
