package import Wire

/// How refusals look in HTTP.
package enum HTTPStatus {
    package static let ok = 200
    package static let created = 201

    package static func of(_ refusal: Refusal) -> Int {
        switch refusal.code {
        case .invalid: 400
        case .forbidden: 403
        case .notFound, .unknownEvent: 404
        case .conflict, .gap: 409
        case .gone, .sessionExpired: 410
        case .tooLarge: 413
        case .rateLimited: 429
        case .busy, .unavailable: 503
        }
    }
}
