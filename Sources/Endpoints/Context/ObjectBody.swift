import LosslessJSON
import Model

/// Reading of request bodies that are one JSON object.
enum ObjectBody {
  /// Parses a body. No bytes are read as an empty object.
  static func object(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    guard !bytes.isEmpty else { return [:] }
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard body.members != nil else {
      throw Failure(.malformedRequest, "The body must be a JSON object.")
    }
    return body
  }

  static func unknownMembers(of body: JSONValue, known: [String]) -> [Failure.Detail] {
    (body.members ?? []).filter { !known.contains($0.name) }.map {
      fault(
        "".appending(pointerMember: $0.name),
        "is unknown; the members are \(known.joined(separator: ", "))")
    }
  }

  static func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }
}
