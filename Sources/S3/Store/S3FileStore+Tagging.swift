package import Files
import HTTPTypes
package import Model
import S3Wire

extension S3FileStore {
  package func tags(of address: ObjectAddress) async throws(FileStoreError) -> TagSet {
    try await asking(about: .object) { () async throws(S3Failure) in
      try await client.perform(
        S3Request(.get, address, query: [("tagging", "")]), document: "Tagging"
      ) { root, _ throws(S3Failure) in
        let tags = (root["TagSet"]?.all("Tag") ?? []).map {
          TagSet.Tag(key: $0["Key"]?.text ?? "", value: $0["Value"]?.text ?? "")
        }
        guard let set = try? TagSet(tags) else { throw S3Failure(unreadable: "faulty tags") }
        return set
      }
    }
  }

  package func setTags(
    _ tags: TagSet, of address: ObjectAddress
  ) async throws(FileStoreError) {
    var request = S3Request(tags.isEmpty ? .delete : .put, address, query: [("tagging", "")])
    if !tags.isEmpty {
      var writer = XMLWriter("Tagging")
      writer.element("TagSet") { writer in
        for tag in tags.tags {
          writer.element("Tag") { writer in
            writer.element("Key", tag.key)
            writer.element("Value", tag.value)
          }
        }
      }
      let document = writer.finished()
      var hashing = ContentHashing()
      hashing.update(document)
      if let digest = hashing.digests()[.md5] {
        request.fields += S3ObjectFields.fields(of: digest)
      }
      request.content = .bytes(document)
    }
    try await ask(request, about: .object)
  }
}
