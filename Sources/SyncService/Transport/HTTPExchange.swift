import Foundation
import HTTPTypes
import SyncCore

/// Requests of one service: its address, its headers, who asks. What every service needs and none says in its own way.
struct HTTPExchange: Sendable {
    /// An answer, whatever its status.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPFields
        let body: Data
        let method: HTTPRequest.Method
        let url: URL

        /// - Throws: ``ServiceFailure`` `malformed`.
        func json() throws -> JSONValue {
            do {
                return try JSONValue(parsing: body)
            } catch {
                let start = String(decoding: body.prefix(60), as: UTF8.self)
                throw ServiceFailure.malformed("it is no JSON but '\(start)' (status \(status))")
            }
        }

        /// The clock of the service.
        var time: Date? { headers[.date].flatMap(HTTPDate.date) }
    }

    let base: URL
    private let headers: [HTTPField.Name: String]
    private let transport: any HTTPTransport
    private let credentials: CredentialCache
    /// Whether an answer says that the service does not know the user.
    private let isLoginRefused: @Sendable (Answer) -> Bool
    /// How many requests were sent.
    let counter = RequestCounter()
    /// Until when the service wants to be left alone.
    let rests = RestKeeper()

    init(
        _ base: URL, headers: [HTTPField.Name: String], _ transport: any HTTPTransport,
        _ credentials: ServiceCredentials, isLoginRefused: @escaping @Sendable (Answer) -> Bool = { $0.status == 401 }
    ) {
        self.base = base
        self.isLoginRefused = isLoginRefused
        self.headers = headers
        self.transport = transport
        self.credentials = CredentialCache(credentials)
    }

    /// The address of a path below that of the service.
    ///
    /// - Parameters:
    ///   - path: Its parts, not escaped.
    ///   - query: Names and values, not escaped.
    func url(_ path: [String], _ query: [(String, String)] = []) throws -> URL {
        var text = base.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        for part in path { text += "/" + part.escapedForURL }
        if !query.isEmpty {
            text += "?" + query.map { "\($0.escapedForURL)=\($1.escapedForURL)" }.joined(separator: "&")
        }
        guard let url = URL(string: text) else { throw ServiceFailure.malformed("'\(text)' is no address") }
        return url
    }

    /// The address that an answer names, if it is one of this service: credentials are not sent to another.
    func url(following text: String, from answer: URL) throws -> URL {
        guard let url = URL(string: text, relativeTo: answer)?.absoluteURL, url.isSameOrigin(as: base) else {
            throw ServiceFailure.malformed("its next page is at another place: '\(text)'")
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
    /// - Throws: ``ServiceFailure`` `unreachable`, `busy`, `unauthorized`, `tooLarge`; `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ url: URL, _ body: JSONValue? = nil, headers more: [HTTPField.Name: String] = [:]
    ) async throws -> Answer {
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
    ) async throws -> Answer {
        let (fields, generation) = try await credentials.fields()
        var answer = try await sendOnce(method, url, body, more.merging(fields) { own, _ in own })
        if isLoginRefused(answer) {
            let fresh = try await credentials.refreshed(after: generation)
            answer = try await sendOnce(method, url, body, more.merging(fresh) { own, _ in own })
        }
        if isLoginRefused(answer) { throw ServiceFailure.unauthorized(answer.message) }
        switch answer.status {
        case 413: throw ServiceFailure.tooLarge
        case 425, 429, 503: throw ServiceFailure.busy(after: answer.retryAfter, "status \(answer.status)")
        // Of the network, not of the service: log in first.
        case 511: throw answer.refusal
        // Whether the request was carried out is not known, least of all to a gateway (502, 504).
        case 408, 500...:
            throw ServiceFailure.unreachable("status \(answer.status): \(answer.message) (\(answer.place))")
        default: return answer
        }
    }

    private func sendOnce(
        _ method: HTTPRequest.Method, _ url: URL, _ body: Content?, _ more: [HTTPField.Name: String]
    ) async throws -> Answer {
        var request = HTTPRequest(method: method, url: url)
        request.headerFields[.accept] = "application/json"
        if let body { request.headerFields[.contentType] = body.type }
        for (name, value) in headers { request.headerFields[name] = value }
        for (name, value) in more { request.headerFields[name] = value }
        counter.count()
        do {
            let (response, received) = try await transport.send(request, body: body?.data)
            let answer = Answer(
                status: response.status.code, headers: response.headerFields, body: received, method: method, url: url)
            if let rest = answer.backoff { rests.note(rest) }
            return answer
        } catch let error as ServiceFailure {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw ServiceFailure.unreachable("\(error.localizedDescription)")
        }
    }
}

extension HTTPExchange.Answer {
    /// What it says of an error, short.
    var message: String {
        if let json = try? JSONValue(parsing: body) {
            for key in ["message", "error", "detail", "title"] {
                if case .string(let text)? = json[key] { return text }
            }
        }
        return String(decoding: body.prefix(200), as: UTF8.self)
    }

    /// Where it comes from: without what is asked for, which may be a secret.
    var place: String { "\(method) \(url.path)" }

    /// That the service refuses, and where.
    var refusal: ServiceFailure {
        var text = message
        if let location = headers[.location], (300..<400).contains(status) { text = "it is at \(location) now" }
        return .refused(status: status, text.isEmpty ? "(\(place))" : "\(text) (\(place))")
    }

    /// How long to leave the service alone: seconds, or a date by its own clock.
    var retryAfter: Duration? {
        guard let text = headers[.retryAfter] else { return nil }
        if let seconds = Int(text.trimmingCharacters(in: .whitespaces)) { return Self.rest(Double(seconds)) }
        guard let date = HTTPDate.date(text) else { return nil }
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

/// Keeps until when a service wants to be left alone, by what it said last.
final class RestKeeper: @unchecked Sendable {
    private let lock = NSLock()
    private var until: Date?

    func note(_ rest: Duration) { lock.withLock { until = Date().addingTimeInterval(rest.seconds) } }
    /// How much of it is left.
    var left: Duration? {
        lock.withLock { until }.map { max(0, $0.timeIntervalSinceNow) }.flatMap { $0 > 0 ? .seconds($0) : nil }
    }
}

/// Counts requests.
final class RequestCounter: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    func count() { lock.withLock { value += 1 } }
    var total: Int { lock.withLock { value } }
}

/// Dates in headers.
enum HTTPDate {
    /// `Mon, 23 Nov 2026 16:34:43 GMT`; nil for anything else.
    static func date(_ text: String) -> Date? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, let day = Int(parts[1]), let month = months.firstIndex(of: String(parts[2])),
            let year = Int(parts[3])
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3 else { return nil }
        func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let iso =
            "\(year)-\(padded(month + 1))-\(padded(day))T\(padded(clock[0])):\(padded(clock[1])):\(padded(clock[2]))Z"
        return Date(isoText: iso)
    }
}

extension Date {
    /// ISO 8601, and the other forms that a sync reads.
    init?(isoText: String) {
        guard let milliseconds = Array(isoText.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) }) else {
            return nil
        }
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
    var escapedForURL: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return text
    }
}

extension URL {
    func isSameOrigin(as other: URL) -> Bool {
        func port(_ url: URL) -> Int? { url.port ?? (url.scheme == "https" ? 443 : 80) }
        return scheme == other.scheme && host == other.host && port(self) == port(other)
    }
}
