/// What a request is about, which is what a bare 404 says is missing.
enum S3Subject: Sendable {
  case service
  case bucket
  case object
  case upload
}
