import HTTPClient
import Model
import Testing

@testable import S3FileStore

struct S3AddressingTests {
  @Test(
    "The bucket is addressed in the path or in the host",
    arguments: [
      (S3Addressing.path, "https://s3.example", "bucket", "a b/c", "s3.example", "/bucket/a%20b/c"),
      (.host, "https://s3.example", "bucket", "a b/c", "bucket.s3.example", "/a%20b/c"),
      (.host, "https://s3.example", "bucket", nil, "bucket.s3.example", "/"),
      (.path, "https://s3.example", "bucket", nil, "s3.example", "/bucket"),
      (.host, "https://s3.example", nil, nil, "s3.example", "/"),
      // No certificate for all subdomains holds for a name with a dot.
      (.host, "https://s3.example", "my.bucket", "k", "s3.example", "/my.bucket/k"),
      (.host, "http://s3.example:81", "my.bucket", "k", "my.bucket.s3.example:81", "/k"),
      (.host, "http://127.0.0.1:9000", "bucket", "k", "127.0.0.1:9000", "/bucket/k"),
      (.path, "http://[::1]:9000", "bucket", "//k/.x/", "[::1]:9000", "/bucket///k/.x/"),
    ] as [(S3Addressing, String, String?, String?, String, String)])
  func addressesBuckets(
    _ addressing: S3Addressing, _ endpoint: String, _ bucket: String?, _ key: String?,
    _ authority: String, _ target: String
  ) throws {
    let origin = try HTTPURL(endpoint).origin
    let url = addressing.url(
      of: bucket.flatMap { BucketName($0) }, key.flatMap { ObjectKey($0) }, at: origin)
    #expect(url.origin.authority == authority)
    #expect(url.target == target)
  }

  @Test(
    "Only hosts with a region in their name change with the region",
    arguments: [
      ("https://s3.us-east-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"),
      ("https://s3.amazonaws.com", "s3.eu-west-1.amazonaws.com"),
      ("https://minio.example:9000", "minio.example:9000"),
    ])
  func changesRegion(_ endpoint: String, _ authority: String) throws {
    let region = S3Region(name: "us-east-1", endpoint: try HTTPURL(endpoint).origin)
    let moved = region.moved(to: "eu-west-1")
    #expect(moved.name == "eu-west-1")
    #expect(moved.endpoint.authority == authority)
  }

  @Test(
    "Texts that cannot be part of a host are no region names",
    arguments: ["", "evil.example", "EU", "a/b", String(repeating: "a", count: 64)])
  func refusesInvalidRegions(_ text: String) {
    #expect(!S3Region.isName(text))
  }

  @Test(
    "Content-Range fields are parsed",
    arguments: [
      ("bytes 0-9/200", true), ("bytes 0-9/*", false),
      ("bytes */200", false), ("bytes 9-0/200", false), ("bytes 0-200/200", false),
      ("items 0-9/200", false), ("bytes 0-9", false),
    ])
  func parsesContentRanges(_ text: String, isOne: Bool) {
    #expect((ContentRange(text) != nil) == isOne)
  }
}
