import Gateway
import HTTPServer
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// ListObjectsV2.
  func listObjects(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    var wish = try Self.wish(call)
    wish.after = call.query["start-after"].nonEmpty
    if let text = call.query["continuation-token"] {
      guard let token = ListTokenText.decode(text) else {
        throw S3Fault(.invalidArgument, "The continuation token is none that was given here.")
      }
      wish.token = token
    }
    let page = try await page(of: bucket, wish, call)
    let document = try S3ListingDocument(call)
    return document.objects(page, of: bucket, wish, isOwnerWanted: call.isTrue("fetch-owner"))
  }

  /// ListObjects, the first version: pages go on behind a key.
  func listObjectsByMarker(
    _ bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    var wish = try Self.wish(call)
    wish.after = call.query["marker"].nonEmpty.map { marker in
      // A marker that is a common prefix stands for all that is under it.
      let isPrefix = wish.delimiter.map {
        marker.utf8.count > wish.prefix.utf8.count
          && marker.hasSuffix($0)
      }
      return isPrefix == true ? "\(marker)\u{10FFFF}" : marker
    }
    let page = try await page(of: bucket, wish, call)
    return try S3ListingDocument(call).objectsByMarker(page, of: bucket, wish)
  }

  private static func wish(_ call: S3Call) throws(S3Fault) -> ObjectListRequest {
    ObjectListRequest(
      prefix: call.query["prefix"] ?? "", delimiter: call.query["delimiter"].nonEmpty,
      limit: try call.number("max-keys", in: 0...Int(Int32.max)) ?? ObjectListRequest.limitMax)
  }

  private func page(
    of bucket: BucketName, _ wish: ObjectListRequest, _ call: S3Call
  ) async throws(S3Fault) -> ObjectListPage {
    let (page, prefix) = try await S3Fault.translating { () async throws(Failure) in
      try await files.list(bucket, wish, for: call.caller)
    }
    return Self.rolledUp(page, under: prefix, wish)
  }

  /// Where a user asks for more than what is theirs, their own prefix is all there is. Folders are
  /// then told from the one that was asked for on.
  private static func rolledUp(
    _ page: ObjectListPage, under prefix: String, _ wish: ObjectListRequest
  ) -> ObjectListPage {
    guard let delimiter = wish.delimiter, prefix.utf8.count > wish.prefix.utf8.count,
      let folder = prefix.folder(behind: wish.prefix, delimiter: delimiter)
    else { return page }
    let isEmpty = page.items.isEmpty && page.commonPrefixes.isEmpty
    return ObjectListPage(commonPrefixes: isEmpty ? [] : [folder])
  }

  func listUploads(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    var marker: UploadAddress?
    if let text = call.query["key-marker"].nonEmpty {
      marker = UploadAddress(
        object: ObjectAddress(bucket: bucket, key: try S3Call.key(text)),
        id: call.query["upload-id-marker"] ?? "")
    }
    let limit = min(
      try call.number("max-uploads", in: 1...Int(Int32.max)) ?? .max, ObjectListRequest.limitMax)
    let prefix = call.query["prefix"] ?? ""
    let (uploads, hasMore) = try await S3Fault.translating { () async throws(Failure) in
      try await files.uploads(
        in: bucket, prefix: prefix, after: marker, limit: limit, for: call.caller)
    }
    return try S3ListingDocument(call).uploads(
      uploads, of: bucket, prefix: prefix, limit: limit, hasMore: hasMore)
  }

  func listParts(
    of upload: UploadAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let after =
      try call.number("part-number-marker", in: 0...UploadPart.numbers.upperBound) ?? 0
    let limit = min(
      try call.number("max-parts", in: 1...Int(Int32.max)) ?? .max, ObjectListRequest.limitMax)
    let (parts, hasMore) = try await S3Fault.translating { () async throws(Failure) in
      try await files.parts(of: upload, after: after, limit: limit, for: call.caller)
    }
    return try S3ListingDocument(call).parts(
      parts, of: upload, after: after, limit: limit, hasMore: hasMore)
  }
}

extension String? {
  /// Clients write what they do not set as an empty text.
  fileprivate var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}

extension S3Call {
  fileprivate func isTrue(_ name: String) -> Bool { query[name]?.lowercased() == "true" }
}

extension String {
  /// The beginning of the text up to the first delimiter behind `prefix`, by bytes.
  fileprivate func folder(behind prefix: String, delimiter: String) -> String? {
    let bytes = Array(utf8)
    let wanted = Array(delimiter.utf8)
    var place = prefix.utf8.count
    while place + wanted.count <= bytes.count {
      if bytes[place...].starts(with: wanted) {
        return String(decoding: bytes[..<(place + wanted.count)], as: UTF8.self)
      }
      place += 1
    }
    return nil
  }
}
