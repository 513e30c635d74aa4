/// What the signer of a form lets its sender do.
package struct S3FormGrant: Sendable {
  package let request: S3Request
  /// Bytes of content that are taken; nil for any number.
  package let byteCounts: ClosedRange<Int>?
}
