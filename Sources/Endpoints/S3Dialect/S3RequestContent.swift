import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// The content of a request with everything that is to be checked of it.
enum S3RequestContent {
  /// - Parameter isDigested: whether the checksums in fields are those of the content.
  static func upload(_ call: S3Call, isDigested: Bool = true) throws(S3Fault) -> FileUpload {
    let announced = try announced(call)
    let wire = call.request.upload(digests: isDigested ? try digests(call) : [])
    return try S3Content.upload(
      wire, of: call.access, decodedCount: try decodedCount(call), announced: announced)
  }

  /// Of the content of a stored object or part, which is never empty by an oversight.
  static func requireLength(_ call: S3Call) throws(S3Fault) {
    guard call.request.head.framing != .none || call.request.head["content-length"] != nil else {
      throw S3Fault(.missingContentLength, "You must provide the Content-Length HTTP header.")
    }
  }

  static func digests(_ call: S3Call) throws(S3Fault) -> [ContentDigest] {
    var digests: [ContentDigest] = []
    if let text = call.field("content-md5") {
      guard let bytes = Base64.decode(text), let digest = ContentDigest(.md5, bytes) else {
        throw S3Fault(.invalidDigest, "The Content-MD5 you specified is not valid.")
      }
      digests.append(digest)
    }
    for field in call.fields where S3Digests.isDigest(field.name.canonicalName) {
      digests.append(try digest(field.name.canonicalName, field.value))
    }
    return digests
  }

  private static func digest(_ name: String, _ value: String) throws(S3Fault) -> ContentDigest {
    guard S3Digests.algorithm(name) != nil else {
      throw S3Fault(.invalidRequest, "\(name) is of an algorithm that is not known here.")
    }
    guard let digest = S3Digests.digest(name, value) else {
      throw S3Fault(.invalidRequest, "Value for \(name) header is invalid.")
    }
    return digest
  }

  /// The digest that is to come behind the content. Other names in `x-amz-trailer` mean nothing here.
  private static func announced(_ call: S3Call) throws(S3Fault) -> ContentDigest.Algorithm? {
    let names = (call.field("x-amz-trailer") ?? "").lowercased().split(separator: ",").map {
      $0.filter { $0 != " " }
    }.filter { S3Digests.isDigest($0) }
    guard let name = names.first else { return nil }
    guard names.count == 1, let algorithm = S3Digests.algorithm(name) else {
      throw S3Fault(
        .invalidRequest, "x-amz-trailer names one checksum of an algorithm that is known here.")
    }
    return algorithm
  }

  private static func decodedCount(_ call: S3Call) throws(S3Fault) -> Int? {
    guard let text = call.field("x-amz-decoded-content-length") else { return nil }
    guard let count = Int(text), count >= 0 else {
      throw S3Fault(.invalidArgument, "x-amz-decoded-content-length is a number of bytes.")
    }
    return count
  }
}
