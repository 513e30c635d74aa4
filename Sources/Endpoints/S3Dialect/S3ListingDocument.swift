import Gateway
import HTTPServer
import HTTPWire
import Model
import S3Wire

/// S3's listing documents.
struct S3ListingDocument {
  /// Whether keys, prefixes and delimiters are percent-encoded, as a client can request because XML
  /// cannot represent every key.
  private let isEncoded: Bool

  init(_ call: S3Call) throws(S3Fault) {
    let encoding = call.query["encoding-type"]
    guard encoding == nil || encoding == "url" else {
      throw S3Fault(.invalidArgument, "encoding-type must be url.")
    }
    isEncoded = encoding != nil
  }

  func objects(
    _ page: ObjectListPage, of bucket: BucketName, _ listing: ObjectListRequest, isTokenEmpty: Bool,
    isOwnerWanted: Bool
  ) -> ServerResponse {
    var writer = XMLWriter("ListBucketResult")
    begin(&writer, page, of: bucket, listing)
    if let after = listing.after { writer.element("StartAfter", text(after)) }
    writer.element("KeyCount", page.items.count + page.commonPrefixes.count)
    if let token = listing.token {
      writer.element("ContinuationToken", ListTokenText.encode(token))
    }
    // Clients send an empty token for none, and expect it in the response.
    if isTokenEmpty { writer.element("ContinuationToken", "") }
    if let next = page.next {
      writer.element("NextContinuationToken", ListTokenText.encode(next))
    }
    fill(&writer, page, isOwnerWanted: isOwnerWanted)
    return S3Reply.document(writer)
  }

  func objectsByMarker(
    _ page: ObjectListPage, of bucket: BucketName, _ listing: ObjectListRequest
  ) -> ServerResponse {
    var writer = XMLWriter("ListBucketResult")
    begin(&writer, page, of: bucket, listing)
    let marker = listing.after ?? ""
    writer.element(
      "Marker", text(marker.hasSuffix("\u{10FFFF}") ? String(marker.dropLast()) : marker))
    if page.next != nil, let last = Self.last(of: page) {
      writer.element("NextMarker", text(last))
    }
    fill(&writer, page, isOwnerWanted: true)
    return S3Reply.document(writer)
  }

  func versions(
    _ page: ObjectListPage, of bucket: BucketName, _ listing: ObjectListRequest, marker: String?,
    versionMarker: String?
  ) -> ServerResponse {
    var writer = XMLWriter("ListVersionsResult")
    begin(&writer, page, of: bucket, listing)
    writer.element("KeyMarker", text(marker ?? ""))
    writer.element("VersionIdMarker", versionMarker ?? "")
    if page.next != nil, let last = Self.last(of: page) {
      writer.element("NextKeyMarker", text(last))
      if last == page.items.last?.key.text { writer.element("NextVersionIdMarker", "null") }
    }
    for item in page.items {
      writer.element("Version") { writer in
        writer.element("Key", text(item.key.text))
        writer.element("VersionId", "null")
        writer.element("IsLatest", true)
        writer.element("LastModified", item.modified)
        writer.element("ETag", tag: item.tag)
        writer.element("Size", item.size)
        writer.owner()
        writer.element("StorageClass", "STANDARD")
      }
    }
    commonPrefixes(page.commonPrefixes, to: &writer)
    return S3Reply.document(writer)
  }

  func uploads(
    _ page: UploadListPage, of bucket: BucketName, _ listing: UploadListRequest
  ) -> ServerResponse {
    var writer = XMLWriter("ListMultipartUploadsResult")
    writer.element("Bucket", bucket.text)
    writer.element("Prefix", text(listing.prefix))
    if let delimiter = listing.delimiter { writer.element("Delimiter", text(delimiter)) }
    writer.element("KeyMarker", text(listing.marker?.object.key.text ?? ""))
    writer.element("UploadIdMarker", listing.marker?.id ?? "")
    writer.element("MaxUploads", listing.limit)
    writer.element("IsTruncated", page.next != nil)
    if isEncoded { writer.element("EncodingType", "url") }
    if let next = page.next {
      writer.element("NextKeyMarker", text(next.object.key.text))
      writer.element("NextUploadIdMarker", next.id)
    }
    for upload in page.uploads {
      writer.element("Upload") { writer in
        writer.element("Key", text(upload.address.object.key.text))
        writer.element("UploadId", upload.address.id)
        writer.owner("Initiator")
        writer.owner()
        writer.element("StorageClass", "STANDARD")
        writer.element("Initiated", upload.begun)
      }
    }
    commonPrefixes(page.commonPrefixes, to: &writer)
    return S3Reply.document(writer)
  }

  func parts(
    _ parts: [UploadPart], of upload: UploadAddress, after: Int, limit: Int, hasMore: Bool
  ) -> ServerResponse {
    var writer = XMLWriter("ListPartsResult")
    writer.element("Bucket", upload.object.bucket.text)
    writer.element("Key", text(upload.object.key.text))
    writer.element("UploadId", upload.id)
    writer.owner("Initiator")
    writer.owner()
    writer.element("StorageClass", "STANDARD")
    writer.element("PartNumberMarker", after)
    writer.element("MaxParts", limit)
    writer.element("IsTruncated", hasMore)
    if hasMore, let last = parts.last { writer.element("NextPartNumberMarker", last.number) }
    for part in parts {
      writer.element("Part") { writer in
        writer.element("PartNumber", part.number)
        writer.element("LastModified", part.modified)
        writer.element("ETag", tag: part.tag)
        writer.element("Size", part.size)
        writer.checksum(part.checksum)
      }
    }
    return S3Reply.document(writer)
  }

  // MARK: Common elements

  private func begin(
    _ writer: inout XMLWriter, _ page: ObjectListPage, of bucket: BucketName,
    _ listing: ObjectListRequest
  ) {
    writer.element("Name", bucket.text)
    writer.element("Prefix", text(listing.prefix))
    if let delimiter = listing.delimiter { writer.element("Delimiter", text(delimiter)) }
    writer.element("MaxKeys", listing.limit)
    if isEncoded { writer.element("EncodingType", "url") }
    writer.element("IsTruncated", page.next != nil)
  }

  private func fill(_ writer: inout XMLWriter, _ page: ObjectListPage, isOwnerWanted: Bool) {
    for item in page.items {
      writer.element("Contents") { writer in
        writer.element("Key", text(item.key.text))
        writer.element("LastModified", item.modified)
        writer.element("ETag", tag: item.tag)
        writer.element("Size", item.size)
        if isOwnerWanted { writer.owner() }
        writer.element("StorageClass", "STANDARD")
      }
    }
    commonPrefixes(page.commonPrefixes, to: &writer)
  }

  private func commonPrefixes(_ prefixes: [String], to writer: inout XMLWriter) {
    for prefix in prefixes {
      writer.element("CommonPrefixes") { $0.element("Prefix", text(prefix)) }
    }
  }

  /// The last key or common prefix, in the order of their bytes.
  private static func last(of page: ObjectListPage) -> String? {
    let ends = [page.items.last?.key.text, page.commonPrefixes.last].compactMap { $0 }
    return ends.max { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func text(_ text: String) -> String { isEncoded ? S3Encoding.path(text) : text }
}
