import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// Reading of a request's content, with the digests to verify it with.
enum S3RequestContent {
  /// - Parameter isDigested: whether the checksums in the fields are those of the content.
  static func upload(_ call: S3Call, isDigested: Bool = true) throws(S3Fault) -> UploadContent {
    let announced = try announced(call)
    let wire = call.request.upload(digests: isDigested ? try digests(call) : [])
    return try S3Content.upload(
      wire, of: call.access, decodedCount: try decodedCount(call), announced: announced)
  }

  /// Requires the length of an object or part, so that it is not stored empty by mistake.
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
      throw S3Fault(.invalidRequest, "The algorithm of \(name) is not supported.")
    }
    guard let digest = S3Digests.digest(name, value) else {
      throw S3Fault(.invalidRequest, "Value for \(name) header is invalid.")
    }
    return digest
  }

  /// The algorithm of the digest in the trailer. Other names in `x-amz-trailer` are ignored.
  private static func announced(_ call: S3Call) throws(S3Fault) -> ContentDigest.Algorithm? {
    let names = (call.field("x-amz-trailer") ?? "").lowercased().split(separator: ",").map {
      $0.filter { $0 != " " }
    }.filter { S3Digests.isDigest($0) }
    guard let name = names.first else { return nil }
    guard names.count == 1, let algorithm = S3Digests.algorithm(name) else {
      throw S3Fault(
        .invalidRequest, "x-amz-trailer must name one checksum of a supported algorithm.")
    }
    return algorithm
  }

  private static func decodedCount(_ call: S3Call) throws(S3Fault) -> Int? {
    guard let text = call.field("x-amz-decoded-content-length") else { return nil }
    guard let count = Int(text), count >= 0 else {
      throw S3Fault(.invalidArgument, "x-amz-decoded-content-length must be a number of bytes.")
    }
    return count
  }
}

extension S3Endpoint {
  /// Enough for a thousand keys of a kilobyte whose characters take up to six bytes each.
  private static let limits = XMLLimits(bytesMax: 8 << 20)

  /// Reads the XML document in a request and verifies its digests.
  ///
  /// - Parameters:
  ///   - isDigestRequired: whether a digest is required, as for requests that cannot be undone.
  ///   - isDigested: whether the checksums in the fields are the document's.
  func document(
    of call: S3Call, isDigestRequired: Bool = false, isDigested: Bool = true
  ) async throws(S3Fault) -> XMLElement {
    let upload = try S3RequestContent.upload(call, isDigested: isDigested)
    guard !isDigestRequired || !upload.digests.isEmpty || upload.computing != nil else {
      throw S3Fault(
        .invalidRequest, "Missing required header for this request: Content-MD5 or a checksum")
    }
    let bytes = try await collect(upload)
    let trailing: [ContentDigest]
    do throws(FileStoreError) {
      trailing = try upload.trailingDigests()
    } catch {
      throw Self.fault(error)
    }
    guard ContentDigest.match(upload.digests + trailing, bytes) else {
      throw S3Fault(.badDigest, "The digest you specified did not match what we received.")
    }
    do throws(XMLFault) {
      return try XMLReader.read(bytes, within: Self.limits)
    } catch {
      throw S3Fault(
        .malformedXML, "The XML you provided was not well-formed or did not validate: \(error)")
    }
  }

  private func collect(_ upload: UploadContent) async throws(S3Fault) -> [UInt8] {
    let bytesMax = Self.limits.bytesMax
    var bytes: [UInt8] = []
    do throws(FileStoreError) {
      while let piece = try await upload.next() {
        bytes += piece
        guard bytes.count <= bytesMax else { throw FileStoreError.tooLarge(bytesMax: bytesMax) }
      }
    } catch {
      throw Self.fault(error)
    }
    return bytes
  }

  private static func fault(_ error: FileStoreError) -> S3Fault {
    switch error {
    case .tooLarge(let bytesMax):
      S3Fault(.malformedXML, "The XML exceeds \(bytesMax) bytes.")
    case .refused(.signature):
      S3Fault(.signatureDoesNotMatch, "The signature of a chunk does not match its content.")
    case .refused(.trailer):
      S3Fault(.invalidRequest, "The trailer is not the one announced in x-amz-trailer.")
    default:
      S3Fault(.incompleteBody, "The content was not received completely.")
    }
  }
}
