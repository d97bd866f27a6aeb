public import Foundation
public import HTTPTypes
public import SyncCore

/// An HTTP client for a service. The client escapes paths and queries, refreshes credentials after status 401, and
/// throws ``ServiceError`` for statuses that have the same meaning for every service.
public struct ServiceHTTPClient: Sendable {
    /// The response to a request.
    public struct Response: Sendable {
        /// The HTTP status code.
        public let status: Int
        /// The header fields of the response.
        public let headers: HTTPFields
        /// The decompressed body.
        public let body: Data
        /// The method of the request.
        package let method: HTTPRequest.Method
        /// The URL of the request.
        public let url: URL
        /// The secrets to mask in errors.
        let secrets: SecretKeeper

        /// Parses the body as JSON.
        ///
        /// - Throws: ``ServiceError/invalidResponse(_:)`` if the body cannot be parsed, or has more than five million
        ///   values.
        public func json() throws -> JSONValue {
            try ResponseSizeLimit.checkValues(of: body)
            do {
                return try JSONValue(parsing: body)
            } catch {
                throw ServiceError.invalidResponse("\(problem(error)) (status \(status), \(endpoint))")
            }
        }

        /// Describes why the body cannot be parsed, without the values in it.
        private func problem(_ error: any Error) -> String {
            if let format = PayloadPrefix(body).detectedFormat { return "expected JSON, found \(format.name)" }
            guard let error = error as? SyncError else { return "the response is not JSON" }
            return "the response is not JSON: " + ([error.message] + error.place).joined(separator: ", ")
        }

        /// Returns the first `count` characters of the body with secrets masked, also a secret that continues after
        /// them.
        func start(_ count: Int) -> String {
            let text = String(decoding: body.prefix(4 * count + secrets.longest), as: UTF8.self)
            return String(secrets.hiding(text).prefix(count))
        }

        /// The time in the `Date` header, according to the clock of the service; nil if the header is missing or
        /// invalid.
        public var time: Date? { headers[.date].flatMap(Date.init(headerText:)) }
    }

    /// The base URL of the service, without a slash at the end.
    public let base: URL
    private let headers: [HTTPField.Name: String]
    private let transport: any HTTPTransport
    private let credentials: CredentialCache
    /// A closure that returns whether a response rejects the credentials.
    private let isLoginRefused: @Sendable (Response) -> Bool
    /// The end of the delay that the service asked for; nil for no delay.
    let restEnd = Locked<Date?>(nil)
    /// The secrets to mask in errors.
    let secrets = SecretKeeper()

    init(
        _ base: URL, headers: [HTTPField.Name: String], _ transport: any HTTPTransport,
        _ credentials: ServiceCredentials, isLoginRefused: @escaping @Sendable (Response) -> Bool = { $0.status == 401 }
    ) {
        self.base = base.withoutTrailingSlashes
        self.isLoginRefused = isLoginRefused
        self.headers = headers
        self.transport = transport
        self.credentials = CredentialCache(credentials)
        secrets.record(configured: headers)
        if let password = base.password { secrets.record(password) }
    }

    /// Returns the URL of a path below the base URL.
    ///
    /// - Parameters:
    ///   - path: The components of the path, not escaped.
    ///   - query: The names and values of the query parameters, not escaped.
    /// - Throws: ``ServiceError/invalidResponse(_:)`` if the result is not a URL.
    public func url(_ path: [String], _ query: [(String, String)] = []) throws -> URL {
        var text = base.absoluteString
        for part in path { text += "/" + part.escapedForURL }
        if !query.isEmpty {
            text += "?" + query.map { "\($0.escapedForURL)=\($1.escapedForURL)" }.joined(separator: "&")
        }
        guard let url = URL(string: text) else { throw ServiceError.invalidResponse("'\(text)' is not a URL") }
        return url
    }

    /// Returns the absolute URL for a URL in a response. The URL must have the same origin as the service, because
    /// requests contain the credentials.
    ///
    /// - Parameters:
    ///   - text: The URL, absolute or relative.
    ///   - requestURL: The URL of the request, which is the base of a relative URL.
    /// - Throws: ``ServiceError`` `invalidResponse` if the URL has another origin, or if `text` is not a URL.
    public func url(following text: String, from requestURL: URL) throws -> URL {
        guard let url = URL(string: text, relativeTo: requestURL)?.absoluteURL, url.isSameOrigin(as: base) else {
            throw ServiceError.invalidResponse("its next page is at another origin: '\(secrets.hiding(text))'")
        }
        return url
    }

    /// Returns the current value of `Authorization`, and how often the credentials were refreshed so far.
    func authorization() async throws -> (value: String?, generation: Int) {
        let (fields, generation) = try await credentials.fields()
        return (fields[.authorization] ?? headers[.authorization], generation)
    }

    /// Sends a request with an optional JSON body. If the service rejects the credentials, the client refreshes the
    /// credentials and sends the request once more.
    ///
    /// - Parameter more: Header fields of this request. These fields replace fields of the client and of the
    ///   credentials.
    /// - Returns: The response. The status may be an error status that the caller must handle, such as 404.
    /// - Throws: ``ServiceError`` `unreachable`, `retryLater`, `unauthorized`, `payloadTooLarge`, `invalidResponse`, or
    ///   `rejected` for status 511; `CancellationError`; errors of the credentials.
    public func send(
        _ method: HTTPRequest.Method, _ url: URL, _ body: JSONValue? = nil, headers more: [HTTPField.Name: String] = [:]
    ) async throws -> Response {
        try await send(
            method, url, content: body.map { Content(data: Data(CanonicalJSON.bytes($0)), type: "application/json") },
            headers: more)
    }

    /// The body of a request and its media type.
    struct Content: Sendable {
        let data: Data
        let type: String
    }

    /// Sends a request with a body of any media type.
    func send(
        _ method: HTTPRequest.Method, _ url: URL, content body: Content?, headers more: [HTTPField.Name: String] = [:]
    ) async throws -> Response {
        let (fields, generation) = try await credentials.fields()
        for value in fields.values { secrets.record(value) }
        var response = try await sendOnce(method, url, body, more.merging(fields) { own, _ in own })
        if isLoginRefused(response) {
            let fresh = try await credentials.refreshed(after: generation)
            for value in fresh.values { secrets.record(value) }
            response = try await sendOnce(method, url, body, more.merging(fresh) { own, _ in own })
        }
        if isLoginRefused(response) { throw ServiceError.unauthorized(response.message) }
        switch response.status {
        case 413: throw ServiceError.payloadTooLarge
        case 425, 429, 503: throw ServiceError.retryLater(after: response.retryAfter, "status \(response.status)")
        // The network sends 511 instead of the service: the user must log in to the network first.
        case 511: throw response.refusal
        // The service may have applied the request, even if a gateway sent the response (502, 504).
        case 408, 500...:
            throw ServiceError.unreachable("status \(response.status): \(response.message) (\(response.endpoint))")
        default: return response
        }
    }

    private func sendOnce(
        _ method: HTTPRequest.Method, _ url: URL, _ body: Content?, _ more: [HTTPField.Name: String]
    ) async throws -> Response {
        var request = HTTPRequest(method: method, url: url)
        request.headerFields[.accept] = "application/json"
        if let body { request.headerFields[.contentType] = body.type }
        for (name, value) in headers { request.headerFields[name] = value }
        for (name, value) in more { request.headerFields[name] = value }
        do {
            let (head, received) = try await transport.send(request, body: body?.data)
            let response = Response(
                status: head.status.code, headers: head.headerFields, body: received, method: method, url: url,
                secrets: secrets)
            if let rest = response.backoff { restEnd.withLock { $0 = Date().addingTimeInterval(rest.seconds) } }
            return response
        } catch let error as ServiceError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw ServiceError.unreachable(secrets.hiding(error.localizedDescription), cause: .init(error))
        }
    }
}

extension ServiceError.ConnectionFailure {
    /// The cause of an error that a transport threw.
    fileprivate init(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
        case .cannotConnectToHost: self = .connectionRefused
        case .timedOut: self = .timedOut
        default: self = .other
        }
    }
}

extension ServiceHTTPClient.Response {
    /// The error message in the response, or the beginning of the body if the response has no such message. The string
    /// has at most 1,000 characters, and secrets are masked.
    public var message: String {
        if body.count <= Self.longestError, let json = try? JSONValue(parsing: body) {
            for key in ["message", "error", "detail", "title"] {
                if case .string(let text)? = json[key] { return String(secrets.hiding(text).prefix(1000)) }
            }
        }
        return start(200)
    }

    /// The largest size in bytes of a response that is searched for an error message.
    private static let longestError = 1 << 20

    /// The method and path of the request, for errors. The query is omitted, because it may contain a secret.
    var endpoint: String { "\(method) \(url.path)" }

    /// The method and URL of the request, for errors about a missing path. The user, the query and the fragment are
    /// omitted, because they may contain secrets.
    private var address: String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return endpoint }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string.map { "\(method) \(secrets.hiding($0))" } ?? endpoint
    }

    /// The response as a ``ServiceError/rejected(status:_:)`` error, with the method and path of the request. An error
    /// with status 404 or 410 has the URL instead of the path.
    public var refusal: ServiceError {
        var text = message
        if let location = headers[.location], (300..<400).contains(status) {
            text = "redirected to \(secrets.hiding(location))"
        }
        let place = status == 404 || status == 410 ? address : endpoint
        return .rejected(status: status, text.isEmpty ? "(\(place))" : "\(text) (\(place))")
    }

    /// The delay from the `Retry-After` header, which has seconds or a date by the clock of the service; nil if there
    /// is none.
    var retryAfter: Duration? {
        guard let text = headers[.retryAfter] else { return nil }
        if let seconds = Int(text.trimmingCharacters(in: .whitespaces)) { return Self.rest(Double(seconds)) }
        guard let date = Date(headerText: text) else { return nil }
        return Self.rest(date.timeIntervalSince(time ?? Date()))
    }

    /// The delay from the `Backoff` header, or from the `Retry-After` header of a successful response; nil if there is
    /// none.
    var backoff: Duration? {
        if let name = HTTPField.Name("Backoff"), let text = headers[name], let seconds = Int(text) {
            return Self.rest(Double(seconds))
        }
        return (200..<300).contains(status) ? retryAfter : nil
    }

    /// Returns a duration from zero to one day.
    private static func rest(_ seconds: Double) -> Duration { .seconds(min(max(0, seconds), 86_400)) }
}

extension Date {
    /// Parses an ISO 8601 date, or another date format that a sync reads; returns nil for any other text.
    init?(isoText: String) {
        guard let milliseconds = Array(isoText.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) }) else {
            return nil
        }
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    private static let headerPattern = try? DatePattern("d MMM yyyy H:m:s z")

    /// Parses an HTTP date such as `Mon, 23 Nov 2026 16:34:43 GMT`, ignoring the weekday. Returns nil for any other
    /// text.
    init?(headerText: String) {
        let text = headerText.split(separator: " ").dropFirst().joined(separator: " ")
        let milliseconds = Array(text.utf8).withUnsafeBufferPointer { Self.headerPattern?.milliseconds($0) }
        guard let milliseconds else { return nil }
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The date in ISO 8601, such as `2026-11-23T16:34:43Z`.
    var isoText: String { DateText.iso(Self.clamped((timeIntervalSince1970 * 1000).rounded(.down))) }
}

extension String {
    /// The string with all reserved characters escaped, including `+`, which many services decode as a space.
    var escapedForURL: String { addingPercentEncoding(withAllowedCharacters: Self.plain) ?? self }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension URL {
    /// The URL without slashes at its end.
    fileprivate var withoutTrailingSlashes: URL {
        var text = absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return URL(string: text) ?? self
    }

    func isSameOrigin(as other: URL) -> Bool {
        func port(_ url: URL) -> Int? { url.port ?? (url.scheme == "https" ? 443 : 80) }
        return scheme == other.scheme && host == other.host && port(self) == port(other)
    }
}

// MARK: - Public interface for services

extension ServiceHTTPClient {
    /// Creates a client for the service at a base URL.
    ///
    /// - Parameter headers: Header fields of every request. The fields can replace `Accept` and `Content-Type`, which
    ///   are `application/json` by default.
    public init(
        baseURL: URL, headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        self.init(baseURL, headers: headers, transport, credentials)
    }

    /// The remaining delay from the header `Backoff`, or from `Retry-After` in a successful response; nil for none. Use
    /// the property to implement ``SyncService/backoff``.
    public var backoff: Duration? {
        guard let seconds = restEnd.value?.timeIntervalSinceNow, seconds > 0 else { return nil }
        return .seconds(seconds)
    }

    /// Returns a copy of a string in which the secrets of requests are masked. Use the method to implement
    /// ``SyncService/hidingSecrets(in:)``.
    public func hidingSecrets(in text: String) -> String { secrets.hiding(text) }
}

// MARK: - Requests and URLs

extension HTTPRequest {
    /// Creates a request to an `http` or `https` URL.
    init(method: Method, url: URL) {
        let port = url.port.map { ":\($0)" } ?? ""
        let host = url.host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        let query = components?.percentEncodedQuery.map { "?\($0)" } ?? ""
        self.init(
            method: method, scheme: url.scheme, authority: host + port, path: (path.isEmpty ? "/" : path) + query)
    }

    /// The URL as text.
    var address: String { "\(scheme ?? "http")://\(authority ?? "")\(path ?? "/")" }
}
