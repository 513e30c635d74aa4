/// The one algorithm that is spoken here: AWS Signature Version 4.
package enum SignatureAlgorithm {
  package static let name = "AWS4-HMAC-SHA256"
}
