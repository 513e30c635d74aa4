import Gateway
import HTTPServer
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// A thousand keys of a kilobyte, of which each character may take six.
  private static let limits = XMLLimits(bytesMax: 8 << 20)

  /// The document that a request brings, its digests checked.
  ///
  /// - Parameters:
  ///   - isDigestWanted: whether one must be there, as for what cannot be undone.
  ///   - isDigested: whether the checksums in fields are the document's.
  func document(
    of call: S3Call, isDigestWanted: Bool = false, isDigested: Bool = true
  ) async throws(S3Fault) -> XMLElement {
    let upload = try S3RequestContent.upload(call, isDigested: isDigested)
    guard !isDigestWanted || !upload.digests.isEmpty || upload.computing != nil else {
      throw S3Fault(
        .invalidRequest, "Missing required header for this request: Content-MD5 or a checksum")
    }
    let bytes = try await collect(upload)
    let trailing: [ContentDigest]
    do throws(FileUpload.Fault) {
      trailing = try upload.trailingDigests()
    } catch {
      throw Self.fault(error)
    }
    guard S3Digests.match(upload.digests + trailing, bytes) else {
      throw S3Fault(.badDigest, "The digest you specified did not match what we received.")
    }
    do throws(XMLFault) {
      return try XMLReader.read(bytes, within: Self.limits)
    } catch {
      throw S3Fault(
        .malformedXML, "The XML you provided was not well-formed or did not validate: \(error)")
    }
  }

  private func collect(_ upload: FileUpload) async throws(S3Fault) -> [UInt8] {
    let bytesMax = Self.limits.bytesMax
    var bytes: [UInt8] = []
    do throws(FileUpload.Fault) {
      while let piece = try await upload.next() {
        bytes += piece
        guard bytes.count <= bytesMax else { throw FileUpload.Fault.tooLarge(bytesMax: bytesMax) }
      }
    } catch {
      throw Self.fault(error)
    }
    return bytes
  }

  private static func fault(_ fault: FileUpload.Fault) -> S3Fault {
    switch fault {
    case .tooLarge(let bytesMax):
      S3Fault(.malformedXML, "The XML is larger than \(bytesMax) bytes.")
    case .signature:
      S3Fault(.signatureDoesNotMatch, "The content is not signed as it should be.")
    case .trailer: S3Fault(.invalidRequest, "What trails the content is not what was announced.")
    case .incomplete, .disconnected, .framing:
      S3Fault(.incompleteBody, "The content did not arrive whole.")
    }
  }
}
