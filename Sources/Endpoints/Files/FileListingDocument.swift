import HTTPWire
import LosslessJSON
import Model

/// Listings as JSON, with the members of S3's listings (ListObjectsV2, ListBuckets, ListParts and
/// ListMultipartUploads).
enum FileListingDocument {
  static func bytes(
    _ page: ObjectListPage, of bucket: BucketName, _ request: ObjectListRequest
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("Name", bucket.text)
    writer.member("Prefix", request.prefix)
    if let delimiter = request.delimiter { writer.member("Delimiter", delimiter) }
    if let after = request.after { writer.member("StartAfter", after) }
    writer.number("MaxKeys", request.limit)
    writer.number("KeyCount", page.items.count + page.commonPrefixes.count)
    writer.flag("IsTruncated", page.next != nil)
    if let token = request.token { writer.member("ContinuationToken", ListTokenText.encode(token)) }
    if let next = page.next { writer.member("NextContinuationToken", ListTokenText.encode(next)) }
    writer.list("Contents", page.items) { writer, item in
      writer.member("Key", item.key.text)
      writer.moment("LastModified", item.modified)
      writer.member("ETag", EntityTag(item.tag).text)
      writer.number("Size", item.size)
      writer.member("StorageClass", "STANDARD")
    }
    writer.list("CommonPrefixes", page.commonPrefixes) { $0.member("Prefix", $1) }
    writer.endObject()
    return writer.bytes
  }

  static func bytes(_ buckets: [BucketDescription]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.list("Buckets", buckets) { writer, bucket in
      writer.member("Name", bucket.name.text)
      writer.moment("CreationDate", bucket.created)
      if let bytes = bucket.bytes { writer.number("Bytes", bytes) }
      if let objects = bucket.objects { writer.number("Objects", objects) }
    }
    writer.endObject()
    return writer.bytes
  }

  static func bytes(_ parts: [UploadPart], of upload: UploadAddress, hasMore: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("Bucket", upload.object.bucket.text)
    writer.member("Key", upload.object.key.text)
    writer.member("UploadId", upload.id)
    writer.flag("IsTruncated", hasMore)
    if hasMore, let last = parts.last { writer.number("NextPartNumberMarker", last.number) }
    writer.list("Parts", parts) { writer, part in
      writer.number("PartNumber", part.number)
      writer.moment("LastModified", part.modified)
      writer.member("ETag", EntityTag(part.tag).text)
      writer.number("Size", part.size)
    }
    writer.endObject()
    return writer.bytes
  }

  static func bytes(
    _ uploads: [UploadDescription], of bucket: BucketName, hasMore: Bool
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("Bucket", bucket.text)
    writer.flag("IsTruncated", hasMore)
    if hasMore, let last = uploads.last {
      writer.member("NextKeyMarker", last.address.object.key.text)
      writer.member("NextUploadIdMarker", last.address.id)
    }
    writer.list("Uploads", uploads) { writer, upload in
      writer.member("Key", upload.address.object.key.text)
      writer.member("UploadId", upload.address.id)
      writer.moment("Initiated", upload.begun)
    }
    writer.endObject()
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func number(_ name: String, _ value: Int) {
    self.name(name)
    int(value)
  }

  fileprivate mutating func flag(_ name: String, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  fileprivate mutating func moment(_ name: String, _ value: Timestamp) {
    member(name, HTTPDate(secondsSince1970: value.milliseconds / 1000).isoText)
  }

  fileprivate mutating func list<Element>(
    _ name: String, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
  ) {
    self.name(name)
    beginArray()
    for element in elements {
      beginObject()
      write(&self, element)
      endObject()
    }
    endArray()
  }
}
