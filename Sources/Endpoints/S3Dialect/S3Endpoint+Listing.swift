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
    let isTokenEmpty = call.query["continuation-token"] == ""
    if let text = call.query["continuation-token"], !isTokenEmpty {
      guard let token = ListTokenText.decode(text) else {
        throw S3Fault(.invalidArgument, "The continuation token is none that was given here.")
      }
      wish.token = token
    }
    let page = try await page(of: bucket, wish, call)
    let document = try S3ListingDocument(call)
    return document.objects(
      page, of: bucket, wish, isTokenEmpty: isTokenEmpty,
      isOwnerWanted: call.isTrue("fetch-owner"))
  }

  /// ListObjects, the first version: pages go on behind a key.
  func listObjectsByMarker(
    _ bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    var wish = try Self.wish(call)
    wish.after = Self.place(behind: call.query["marker"].nonEmpty, wish)
    let page = try await page(of: bucket, wish, call)
    return try S3ListingDocument(call).objectsByMarker(page, of: bucket, wish)
  }

  /// ListObjectVersions. Versions are not kept: every object is its only one, whose id is `null`.
  func listVersions(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    var wish = try Self.wish(call)
    let marker = call.query["key-marker"].nonEmpty
    wish.after = Self.place(behind: marker, wish)
    let page = try await page(of: bucket, wish, call)
    return try S3ListingDocument(call).versions(
      page, of: bucket, wish, marker: marker, versionMarker: call.query["version-id-marker"])
  }

  /// Where a listing goes on after a marker: one that is a common prefix stands for all under it.
  private static func place(behind marker: String?, _ wish: ObjectListRequest) -> String? {
    marker.map { marker in
      let isPrefix = wish.delimiter.map {
        marker.utf8.count > wish.prefix.utf8.count && marker.hasSuffix($0)
      }
      return isPrefix == true ? "\(marker)\u{10FFFF}" : marker
    }
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
      let folder = prefix.folder(after: wish.prefix, delimiter: delimiter)
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
    let wish = UploadListRequest(
      prefix: call.query["prefix"] ?? "", delimiter: call.query["delimiter"].nonEmpty,
      marker: marker, limit: limit)
    let page = try await S3Fault.translating { () async throws(Failure) in
      try await files.uploads(in: bucket, wish, for: call.caller)
    }
    return try S3ListingDocument(call).uploads(page, of: bucket, wish)
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
