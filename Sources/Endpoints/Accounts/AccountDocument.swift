import Gateway
import LosslessJSON
import Model

/// The account routes' JSON: objects of texts in, and tokens out.
enum AccountDocument {
  /// Far more than any address, password or refresh token has.
  private static let bytesMax = 8 * 1024

  /// The members of a body, all of them texts and no others, in the order of `names`.
  static func texts(_ bytes: [UInt8], _ names: String...) throws(Failure) -> [String] {
    let body = try AdminDocument.object(bytes)
    var faults = AdminDocument.unknownMembers(of: body, known: names)
    var texts: [String] = []
    for name in names {
      if let text = body[name]?.string, 1...bytesMax ~= text.utf8.count {
        texts.append(text)
      } else {
        faults.append(AdminDocument.fault("/\(name)", "is a text of 1 to \(bytesMax) bytes"))
      }
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The body cannot be read.", details: faults)
    }
    return texts
  }

  static func bytes(_ session: SignedIn) -> [UInt8] {
    let body: JSONValue = [
      "accessToken": .string(session.accessToken),
      "refreshToken": .string(session.refreshToken),
      "expiresIn": .number(JSONNumber(session.expiresIn.wholeSeconds)),
      "userId": .string(session.user),
    ]
    return body.bytes
  }

  static func bytes(user: String, email: String?) -> [UInt8] {
    var body: JSONValue = ["userId": .string(user)]
    if let email { body["email"] = .string(email) }
    return body.bytes
  }
}
