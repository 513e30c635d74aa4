import Gateway
import HTTPServer
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// ListObjectsV2.
  func listObjects(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    var listing = try Self.listing(call)
    listing.after = call.query["start-after"].nonEmpty
    let isTokenEmpty = call.query["continuation-token"] == ""
    if let text = call.query["continuation-token"], !isTokenEmpty {
      guard let token = ListTokenText.decode(text) else {
        throw S3Fault(.invalidArgument, "The continuation token is invalid.")
      }
      listing.token = token
    }
    let page = try await page(of: bucket, listing, call)
    let document = try S3ListingDocument(call)
    return document.objects(
      page, of: bucket, listing, isTokenEmpty: isTokenEmpty,
      isOwnerWanted: call.isTrue("fetch-owner"))
  }

  /// ListObjects, the first version: a page starts after a key.
  func listObjectsByMarker(
    _ bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    var listing = try Self.listing(call)
    listing.after = Self.place(after: call.query["marker"].nonEmpty, listing)
    let page = try await page(of: bucket, listing, call)
    return try S3ListingDocument(call).objectsByMarker(page, of: bucket, listing)
  }

  /// ListObjectVersions. Versions are not supported: every object has one, whose id is `null`.
  func listVersions(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    var listing = try Self.listing(call)
    let marker = call.query["key-marker"].nonEmpty
    listing.after = Self.place(after: marker, listing)
    let page = try await page(of: bucket, listing, call)
    return try S3ListingDocument(call).versions(
      page, of: bucket, listing, marker: marker, versionMarker: call.query["version-id-marker"])
  }

  /// The key to continue after a marker. A marker that is a common prefix includes all keys below it.
  private static func place(after marker: String?, _ listing: ObjectListRequest) -> String? {
    marker.map { marker in
      let isPrefix = listing.delimiter.map {
        marker.utf8.count > listing.prefix.utf8.count && marker.hasSuffix($0)
      }
      return isPrefix == true ? "\(marker)\u{10FFFF}" : marker
    }
  }

  private static func listing(_ call: S3Call) throws(S3Fault) -> ObjectListRequest {
    ObjectListRequest(
      prefix: call.query["prefix"] ?? "", delimiter: call.query["delimiter"].nonEmpty,
      limit: try call.number("max-keys", in: 0...Int(Int32.max)) ?? ObjectListRequest.limitMax)
  }

  private func page(
    of bucket: BucketName, _ listing: ObjectListRequest, _ call: S3Call
  ) async throws(S3Fault) -> ObjectListPage {
    let (page, prefix) = try await S3Fault.translating { () async throws(Failure) in
      try await files.list(bucket, listing, for: call.caller)
    }
    return Self.rolledUp(page, under: prefix, listing)
  }

  /// The page of a user who lists a prefix above their own. Only their own prefix is visible, so with a
  /// delimiter the page has at most one common prefix: the folder that leads to it.
  private static func rolledUp(
    _ page: ObjectListPage, under prefix: String, _ listing: ObjectListRequest
  ) -> ObjectListPage {
    guard let delimiter = listing.delimiter, prefix.utf8.count > listing.prefix.utf8.count,
      let folder = prefix.folder(after: listing.prefix, delimiter: delimiter)
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
    let listing = UploadListRequest(
      prefix: call.query["prefix"] ?? "", delimiter: call.query["delimiter"].nonEmpty,
      marker: marker, limit: limit)
    let page = try await S3Fault.translating { () async throws(Failure) in
      try await files.uploads(in: bucket, listing, for: call.caller)
    }
    return try S3ListingDocument(call).uploads(page, of: bucket, listing)
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
  /// Nil for an empty string, which clients send for unset parameters.
  fileprivate var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}

extension S3Call {
  fileprivate func isTrue(_ name: String) -> Bool { query[name]?.lowercased() == "true" }
}
