import HTTPClient
import HTTPTypes
import HTTPWire
import S3Wire

/// An answer that is whole.
struct S3Response: Sendable {
  let fields: HTTPFields
  let content: [UInt8]
  /// Requests that were sent until it came; after the first, one before may have been carried out
  /// too.
  let attempts: Int
  /// When it came, by the service's clock as far as that is known.
  let received: HTTPDate

  /// The content as a document.
  ///
  /// - Throws: also where its outermost element is another, `Error` above all: copying and
  ///   completing begin to answer before they know how it ends.
  func document(_ name: String) throws(S3Failure) -> XMLElement {
    let root: XMLElement
    do throws(XMLFault) {
      root = try XMLReader.read(content)
    } catch {
      throw S3Failure(unreadable: "\(error)")
    }
    if root.name == "Error" {
      throw S3Failure(status: 500, error: root, fields: fields, now: received)
    }
    guard Self.stem(root.name) == Self.stem(name) else {
      throw S3Failure(unreadable: "<\(root.name)> for <\(name)>")
    }
    return root
  }

  /// Where S3 says `…Result`, some services say `…Response`.
  private static func stem(_ name: String) -> Substring {
    for end in ["Result", "Response"] where name.hasSuffix(end) { return name.dropLast(end.count) }
    return name[...]
  }
}
