import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// What a request that completes an upload says: the parts, and what the object must be.
enum S3UploadCompletion {
  static func read(_ call: S3Call, _ root: XMLElement) throws(S3Fault) -> UploadCompletion {
    let parts = try parts(root)
    return UploadCompletion(
      parts: parts, condition: try S3WriteFields.condition(call),
      checksum: try checksum(call, partCount: parts.count), size: try size(call))
  }

  private static func parts(_ root: XMLElement) throws(S3Fault) -> [PartReference] {
    let elements = root.all("Part")
    guard root.name == "CompleteMultipartUpload", !elements.isEmpty,
      elements.count <= UploadPart.numbers.upperBound
    else {
      throw S3Fault(
        .malformedXML,
        "The document is CompleteMultipartUpload with 1 to \(UploadPart.numbers.upperBound) parts.")
    }
    var parts: [PartReference] = []
    for element in elements {
      guard let number = element["PartNumber"].flatMap({ Int($0.text) }),
        let text = element["ETag"]?.text
      else { throw S3Fault(.malformedXML, "A part has a PartNumber and an ETag.") }
      let tag = EntityTag(parsing: text)?.opaque ?? text
      parts.append(
        PartReference(number: number, tag: tag, checksum: try checksum(of: element, number)))
    }
    return parts
  }

  /// The checksum that the client states of a part.
  private static func checksum(
    of element: XMLElement, _ number: Int
  ) throws(S3Fault) -> ContentDigest? {
    for algorithm in ContentDigest.Algorithm.allCases where algorithm != .md5 {
      guard let text = element["Checksum\(algorithm.rawValue.uppercased())"]?.text else { continue }
      guard let digest = S3Digests.digest("\(S3Digests.prefix)\(algorithm.rawValue)", text) else {
        throw S3Fault(.invalidPart, "The checksum of part \(number) cannot be read.")
      }
      return digest
    }
    return nil
  }

  /// The checksum that the client states of the object.
  private static func checksum(
    _ call: S3Call, partCount: Int
  ) throws(S3Fault) -> ObjectChecksum? {
    let stated = call.fields.filter { S3Digests.isDigest($0.name.canonicalName) }
    guard let field = stated.first else { return nil }
    let name = field.name.canonicalName
    guard stated.count == 1, let algorithm = S3Digests.algorithm(name) else {
      throw S3Fault(
        .invalidRequest, "State one checksum of the object, of an algorithm that is known here.")
    }
    let kind = try S3WriteFields.checksumKind(call)
    guard let checksum = S3Digests.checksum(name, field.value),
      kind == nil || UploadChecksum(algorithm, kind) != nil
    else {
      throw S3Fault(.badDigest, "The value of \(name) is no checksum of an object.")
    }
    // The number of parts is left out by some clients where it is clear that it is one of parts.
    guard checksum.partCount == nil,
      kind == .composite || UploadChecksum(algorithm, .fullObject) == nil
    else { return checksum }
    return ObjectChecksum(checksum.digest, partCount: partCount)
  }

  private static func size(_ call: S3Call) throws(S3Fault) -> Int? {
    guard let text = call.field("x-amz-mp-object-size") else { return nil }
    guard let size = Int(text), size >= 0 else {
      throw S3Fault(.invalidArgument, "x-amz-mp-object-size must be a number of bytes.")
    }
    return size
  }
}
