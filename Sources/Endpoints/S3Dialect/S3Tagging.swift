import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// Tags in S3's requests and documents.
enum S3Tagging {
  /// Reads `x-amz-tagging`, which has the form of a query: `a=1&b=2`.
  static func tags(inField text: String) throws(S3Fault) -> TagSet {
    let query: QueryString
    do throws(QueryString.Fault) {
      query = try QueryString(text)
    } catch {
      throw S3Fault(.invalidArgument, "x-amz-tagging must be tags in the form of a query: a=1&b=2.")
    }
    return try checked(query.parameters.map { TagSet.Tag(key: $0.name, value: $0.value) })
  }

  static func tags(in root: XMLElement) throws(S3Fault) -> TagSet {
    guard root.name == "Tagging", let set = root["TagSet"] else {
      throw S3Fault(.malformedXML, "The document must be a Tagging with a TagSet.")
    }
    var tags: [TagSet.Tag] = []
    for element in set.all("Tag") {
      guard let key = element["Key"]?.text, let value = element["Value"]?.text else {
        throw S3Fault(.malformedXML, "A Tag must have a Key and a Value.")
      }
      tags.append(TagSet.Tag(key: key, value: value))
    }
    return try checked(tags)
  }

  static func document(_ tags: TagSet) -> ServerResponse {
    var writer = XMLWriter("Tagging")
    writer.element("TagSet") { writer in
      for tag in tags.tags.sorted(by: { $0.key < $1.key }) {
        writer.element("Tag") { writer in
          writer.element("Key", tag.key)
          writer.element("Value", tag.value)
        }
      }
    }
    return S3Reply.document(writer)
  }

  private static func checked(_ tags: [TagSet.Tag]) throws(S3Fault) -> TagSet {
    do throws(TagSet.Fault) {
      return try TagSet(tags)
    } catch {
      throw S3Fault(.invalidTag, error.explanation)
    }
  }
}

extension S3Endpoint {
  /// GetObjectTagging.
  func readTags(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let tags = try await S3Fault.translating { () async throws(Failure) in
      try await files.tags(of: address, by: call.caller)
    }
    return S3Tagging.document(tags)
  }

  /// PutObjectTagging.
  func putTags(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let tags = try S3Tagging.tags(in: try await document(of: call))
    try await S3Fault.translating { () async throws(Failure) in
      try await files.setTags(tags, of: address, by: call.caller)
    }
    return S3Reply.done()
  }

  /// DeleteObjectTagging.
  func deleteTags(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    try await S3Fault.translating { () async throws(Failure) in
      try await files.setTags(.empty, of: address, by: call.caller)
    }
    return S3Reply.done(.noContent)
  }
}
