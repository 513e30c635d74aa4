/// Sizes and times of a store on S3.
package struct S3StoreLimits: Sendable {
  /// Content up to this is kept in memory while it is sent, so that it can be sent again; also the
  /// size of the parts that longer content is sent in. S3 wants parts of 5 MiB at least.
  package var bufferBytes = 8 << 20
  /// Content up to this goes in one request, as it comes in, where its length is known before.
  package var singleBytesMax = 64 << 20
  /// Content up to this is read before a read is answered.
  package var inlineBytesMax = 64 << 10
  /// As much as S3 copies in one request.
  package var copyBytesMax = 5 << 30
  /// What longer content is copied in.
  package var copyPartBytes = 1 << 30
  /// The least size of a part that is not the last, as in S3.
  package var partBytesMin = 5 << 20
  /// Documents the service answers with; a page of a thousand long keys has about 2 MiB.
  package var answerBytesMax = 4 << 20
  /// Requests in all, the first included, where the service cannot be reached or asks for patience.
  package var attemptsMax = 3
  /// The longest rest before the second attempt; twice as long before each other.
  package var restFirst = Duration.milliseconds(200)
  /// A service that wants a longer rest than this is taken to be out of reach.
  package var restMax = Duration.seconds(5)
  /// A service whose clock is off by more has refused a request for that, whatever it says. S3
  /// allows 15 minutes.
  package var clockSkewMin = Duration.seconds(600)

  package init() {}
}
