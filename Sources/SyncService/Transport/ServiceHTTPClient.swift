public import Foundation
public import HTTPTypes
public import SyncCore

/// Requests of one service: its address, its headers, who asks. What every service needs and none says in its own way: paths and
/// queries are escaped, credentials are asked for anew after a 401, and statuses that say the same of every service are failures.
public struct ServiceHTTPClient: Sendable {
    /// An answer, whatever its status.
    public struct Response: Sendable {
        /// Its status.
        public let status: Int
        /// Its header fields.
        public let headers: HTTPFields
        /// Its bytes.
        public let body: Data
        /// How it was asked for.
        public let method: HTTPRequest.Method
        /// What was asked for.
        public let url: URL
        /// What no error may show of it.
        let secrets: SecretKeeper

        /// Its body.
        ///
        /// - Throws: ``ServiceError`` `malformed`.
        public func json() throws -> JSONValue {
            try ResponseSizeLimit.checkValues(of: body)
            do {
                return try JSONValue(parsing: body)
            } catch {
                throw ServiceError.malformed("it is no JSON but '\(start(60))' (status \(status), \(place))")
            }
        }

        /// The first characters of its body, without secrets: also without a part of one that stands at the end.
        func start(_ count: Int) -> String {
            let text = String(decoding: body.prefix(4 * count + secrets.longest), as: UTF8.self)
            return String(secrets.hiding(text).prefix(count))
        }

        /// The clock of the service.
        public var time: Date? { headers[.date].flatMap(Date.init(headerText:)) }
    }

    /// The address of the service, without a slash at its end.
    public let base: URL
    private let headers: [HTTPField.Name: String]
    private let transport: any HTTPTransport
    private let credentials: CredentialCache
    /// Whether an answer says that the service does not know the user.
    private let isLoginRefused: @Sendable (Response) -> Bool
    /// Until when the service wants to be left alone.
    let restEnd = Locked<Date?>(nil)
    /// What no error may show.
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

    /// The address of a path below that of the service.
    ///
    /// - Parameters:
    ///   - path: Its parts, not escaped.
    ///   - query: Names and values, not escaped.
    public func url(_ path: [String], _ query: [(String, String)] = []) throws -> URL {
        var text = base.absoluteString
        for part in path { text += "/" + part.escapedForURL }
        if !query.isEmpty {
            text += "?" + query.map { "\($0.escapedForURL)=\($1.escapedForURL)" }.joined(separator: "&")
        }
        guard let url = URL(string: text) else { throw ServiceError.malformed("'\(text)' is no address") }
        return url
    }

    /// The address that an answer names, if it is one of this service: credentials are not sent to another.
    ///
    /// - Throws: ``ServiceError`` `malformed` for one elsewhere.
    public func url(following text: String, from answer: URL) throws -> URL {
        guard let url = URL(string: text, relativeTo: answer)?.absoluteURL, url.isSameOrigin(as: base) else {
            throw ServiceError.malformed("its next page is at another place: '\(secrets.hiding(text))'")
        }
        return url
    }

    /// The value of `Authorization` that requests have, and how often it was another one before.
    func authorization() async throws -> (value: String?, generation: Int) {
        let (fields, generation) = try await credentials.fields()
        return (fields[.authorization] ?? headers[.authorization], generation)
    }

    /// Sends a request; after one that the service refuses because of the user once more with new credentials.
    ///
    /// - Throws: ``ServiceError`` `unreachable`, `busy`, `unauthorized`, `tooLarge`; `CancellationError`.
    public func send(
        _ method: HTTPRequest.Method, _ url: URL, _ body: JSONValue? = nil, headers more: [HTTPField.Name: String] = [:]
    ) async throws -> Response {
        try await send(
            method, url, content: body.map { Content(data: Data(CanonicalJSON.bytes($0)), type: "application/json") },
            headers: more)
    }

    /// What a request carries.
    struct Content: Sendable {
        let data: Data
        let type: String
    }

    /// The same with anything.
    func send(
        _ method: HTTPRequest.Method, _ url: URL, content body: Content?, headers more: [HTTPField.Name: String] = [:]
    ) async throws -> Response {
        let (fields, generation) = try await credentials.fields()
        for value in fields.values { secrets.record(value) }
        var answer = try await sendOnce(method, url, body, more.merging(fields) { own, _ in own })
        if isLoginRefused(answer) {
            let fresh = try await credentials.refreshed(after: generation)
            for value in fresh.values { secrets.record(value) }
            answer = try await sendOnce(method, url, body, more.merging(fresh) { own, _ in own })
        }
        if isLoginRefused(answer) { throw ServiceError.unauthorized(answer.message) }
        switch answer.status {
        case 413: throw ServiceError.tooLarge
        case 425, 429, 503: throw ServiceError.busy(after: answer.retryAfter, "status \(answer.status)")
        // Of the network, not of the service: log in first.
        case 511: throw answer.refusal
        // Whether the request was carried out is not known, least of all to a gateway (502, 504).
        case 408, 500...:
            throw ServiceError.unreachable("status \(answer.status): \(answer.message) (\(answer.place))")
        default: return answer
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
            let (response, received) = try await transport.send(request, body: body?.data)
            let answer = Response(
                status: response.status.code, headers: response.headerFields, body: received, method: method, url: url,
                secrets: secrets)
            if let rest = answer.backoff { restEnd.withLock { $0 = Date().addingTimeInterval(rest.seconds) } }
            return answer
        } catch let error as ServiceError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw ServiceError.unreachable(secrets.hiding(error.localizedDescription))
        }
    }
}

extension ServiceHTTPClient.Response {
    /// What it says of an error, short, and without the secrets of the request that it may repeat.
    public var message: String {
        if body.count <= Self.longestError, let json = try? JSONValue(parsing: body) {
            for key in ["message", "error", "detail", "title"] {
                if case .string(let text)? = json[key] { return String(secrets.hiding(text).prefix(1000)) }
            }
        }
        return start(200)
    }

    /// How many bytes an answer may have that is looked through for what it says of an error.
    private static let longestError = 1 << 20

    /// Where it comes from: without what is asked for, which may be a secret.
    var place: String { "\(method) \(url.path)" }

    /// That the service refuses, and where.
    public var refusal: ServiceError {
        var text = message
        if let location = headers[.location], (300..<400).contains(status) {
            text = "it is at \(secrets.hiding(location)) now"
        }
        return .refused(status: status, text.isEmpty ? "(\(place))" : "\(text) (\(place))")
    }

    /// How long to leave the service alone: seconds, or a date by its own clock.
    var retryAfter: Duration? {
        guard let text = headers[.retryAfter] else { return nil }
        if let seconds = Int(text.trimmingCharacters(in: .whitespaces)) { return Self.rest(Double(seconds)) }
        guard let date = Date(headerText: text) else { return nil }
        return Self.rest(date.timeIntervalSince(time ?? Date()))
    }

    /// How long it wants to be left alone though it did what it was asked.
    var backoff: Duration? {
        if let name = HTTPField.Name("Backoff"), let text = headers[name], let seconds = Int(text) {
            return Self.rest(Double(seconds))
        }
        return (200..<300).contains(status) ? retryAfter : nil
    }

    /// A day is long enough to ask again.
    private static func rest(_ seconds: Double) -> Duration { .seconds(min(max(0, seconds), 86_400)) }
}

extension Date {
    /// ISO 8601, and the other forms that a sync reads.
    init?(isoText: String) {
        guard let milliseconds = Array(isoText.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) }) else {
            return nil
        }
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    private static let headerPattern = try? DatePattern("d MMM yyyy H:m:s z")

    /// A date as it stands in headers: `Mon, 23 Nov 2026 16:34:43 GMT`, whatever the weekday.
    init?(headerText: String) {
        let text = headerText.split(separator: " ").dropFirst().joined(separator: " ")
        let milliseconds = Array(text.utf8).withUnsafeBufferPointer { Self.headerPattern?.milliseconds($0) }
        guard let milliseconds else { return nil }
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// `2026-11-23T16:34:43Z`.
    var isoText: String { DateText.iso(Self.clamped((timeIntervalSince1970 * 1000).rounded(.down))) }

    var milliseconds: Int64 { Self.clamped((timeIntervalSince1970 * 1000).rounded()) }

    /// What a service calls a time may be anything.
    private static func clamped(_ milliseconds: Double) -> Int64 {
        Int64(min(max(milliseconds, -62_135_596_800_000), 253_402_300_799_999))
    }
}

extension String {
    /// With everything escaped that is not plain: `+` too, which many services take for a blank.
    var escapedForURL: String { addingPercentEncoding(withAllowedCharacters: Self.plain) ?? self }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension URL {
    /// The same address, however it is spelled.
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

// MARK: - Services

extension ServiceHTTPClient {
    /// Requests of a service.
    ///
    /// - Parameter headers: Fields that every request has; `Accept` and `Content-Type` say JSON where they say nothing else.
    public init(
        baseURL: URL, headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        self.init(baseURL, headers: headers, transport, credentials)
    }

    /// How long the service wants to be left alone, by what it said last; nil for not at all. For ``SyncService/backoff``.
    public var backoff: Duration? {
        guard let seconds = restEnd.value?.timeIntervalSinceNow, seconds > 0 else { return nil }
        return .seconds(seconds)
    }

    /// A text that quotes an answer, without the secrets of the requests. For ``SyncService/hidingSecrets(in:)``.
    public func hidingSecrets(in text: String) -> String { secrets.hiding(text) }
}

// MARK: - HTTPRequest+URL

extension HTTPRequest {
    /// A request to an address of `http` or `https`.
    init(method: Method, url: URL) {
        let port = url.port.map { ":\($0)" } ?? ""
        let host = url.host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        let query = components?.percentEncodedQuery.map { "?\($0)" } ?? ""
        self.init(
            method: method, scheme: url.scheme, authority: host + port, path: (path.isEmpty ? "/" : path) + query)
    }

    /// The address.
    var address: String { "\(scheme ?? "http")://\(authority ?? "")\(path ?? "/")" }
}
