import S3Wire
import Testing

/// The S3 reference's example: an upload of 66,560 letters a.
struct ChunkSignaturesTests {
  private static let payloads = [
    SignatureDigest.of([UInt8](repeating: 0x61, count: 65_536)),
    SignatureDigest.of([UInt8](repeating: 0x61, count: 1024)), SignatureDigest.empty,
  ]
  private static let trailer = [
    CanonicalRequest.Field("third", "3rd"), CanonicalRequest.Field("First", "1st"),
    CanonicalRequest.Field("second", "2nd"),
  ]
  private static let plain = Chain(
    seed: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    chunks: [
      "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
      "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
      "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ],
    trailer: "df5735bd9f3295cd9386572292562fefc93ba94e80a0a1ddcbd652c4e0a75e6c")
  private static let trailing = Chain(
    seed: "07e38132fcc4d32fd36a0526e75132c31182d51dd8cf8cbd90fec870c8a23ec9",
    chunks: [
      "d7f396b859dc84696cf50c167b3df8690baa0d86ed296e84dc3d5642c9b77d87",
      "ef2377de126158633c5b81592d4528e5a642d33688b69d8d7e81ffabcd2c4cfd",
      "25c0946020cf696b404225d76484ba3112aa4193c4b4161204b1d086879de61c",
    ],
    trailer: "826f649eda25f72cfae95a0d30264b0e24829ece4aed0060a40dd6518ee2b2ca")

  struct Chain: Sendable {
    let seed: String
    let chunks: [String]
    let trailer: String
  }

  @Test(
    "The seed signature is the published one",
    arguments: [
      (
        PayloadHash.signedChunks,
        "cee3fed04b70f867d036f722359b0b1f2f0e5dc0efadbc082b76c4c60e316455",
        plain.seed
      ),
      (
        .signedChunksAndTrailer, "287b3f2c8ee5bf89ace751bc07404758e756f264c493e7f68f30c784d083e6cb",
        trailing.seed
      ),
    ])
  func matchesPublishedSeed(
    _ payload: PayloadHash, _ digest: String, _ seed: String
  ) throws {
    var fields = [
      CanonicalRequest.Field("content-encoding", "aws-chunked"),
      CanonicalRequest.Field("content-length", "66824"),
      CanonicalRequest.Field("host", "s3.amazonaws.com"),
      CanonicalRequest.Field("x-amz-content-sha256", payload.text),
      CanonicalRequest.Field("x-amz-date", "20130524T000000Z"),
      CanonicalRequest.Field("x-amz-decoded-content-length", "66560"),
      CanonicalRequest.Field("x-amz-storage-class", "REDUCED_REDUNDANCY"),
    ]
    if payload == .signedChunksAndTrailer {
      fields.append(CanonicalRequest.Field("x-amz-trailer", "first,second,third"))
    }
    let request = CanonicalRequest(
      method: "PUT", path: "/examplebucket/chunkObject.txt", fields: fields, payload: payload)
    #expect(SignatureDigest.of(request.text) == digest)
    let (key, time) = try keyAndTime()
    #expect(key.sign(request.stringToSign(at: time, scope: key.scope)) == seed)
  }

  @Test(
    "Each chunk is signed over the previous signature",
    arguments: [plain, trailing])
  func chainsChunkSignatures(_ chain: Chain) throws {
    let (key, time) = try keyAndTime()
    var signatures = ChunkSignatures(key: key, time: time, seed: chain.seed)
    var signed: [String] = []
    for digest in Self.payloads { signed.append(signatures.next(digest: digest)) }
    #expect(signed == chain.chunks)
    #expect(signatures.trailer(Self.trailer) == chain.trailer)
  }

  @Test(
    "Only the valid chain of signatures is accepted",
    arguments: [plain, trailing])
  func acceptsOnlyValidChain(_ chain: Chain) throws {
    let (key, time) = try keyAndTime()
    var signatures = ChunkSignatures(key: key, time: time, seed: chain.seed)
    for (signature, digest) in zip(chain.chunks, Self.payloads) {
      let takes = (
        other: signatures.accept(chain.seed, digest: digest),
        otherContent: signatures.accept(signature, digest: SignatureDigest.of("other")),
        own: signatures.accept(signature, digest: digest)
      )
      #expect(takes == (false, false, true))
    }
    #expect(!signatures.accept(chain.trailer, trailer: [CanonicalRequest.Field("first", "1st")]))
    #expect(signatures.accept(chain.trailer, trailer: Self.trailer))
  }

  private func keyAndTime() throws -> (SignatureKey, SignatureTime) {
    let time = try #require(SignatureTime("20130524T000000Z"))
    return (
      SignatureKey(
        secret: SignatureVector.manual.secret,
        scope: SignatureScope(day: time.day, region: "us-east-1")), time
    )
  }
}
