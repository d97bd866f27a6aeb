import Foundation
import HTTPTypes
import Sync
import SyncCore

@testable import SyncService

/// Answers requests from files of `Fixtures/Exchanges`, each once and in order. A request that differs from the next
/// file is an error that shows the difference.
actor RecordedExchanges: HTTPTransport {
    private var exchanges: [(name: String, json: JSONValue)]
    /// The requests that differ from the files.
    private(set) var mismatches: [String] = []

    /// - Parameter names: The files, without their extensions.
    init(_ folder: String, _ names: [String]) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures/Exchanges/\(folder)")
        exchanges = try names.map { name in
            (name, try JSONValue(parsing: Data(contentsOf: root.appendingPathComponent("\(name).json"))))
        }
    }

    /// The exchanges that were not requested.
    var left: [String] { exchanges.map(\.name) }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let sent = try Self.json(request, body)
        guard let exchange = exchanges.first else { throw mismatch("nothing more is expected, but \(Self.text(sent))") }
        let expected = exchange.json["request"] ?? .null
        guard Self.text(sent) == Self.text(Self.decoded(expected)) else {
            throw mismatch("\(exchange.name): expected \(Self.text(Self.decoded(expected))), sent \(Self.text(sent))")
        }
        exchanges.removeFirst()
        let response = exchange.json["response"]
        guard case .number(let text)? = response?["status"], let status = Int(text) else {
            throw mismatch("\(exchange.name) has no status")
        }
        var fields = HTTPFields()
        if case .object(let headers)? = response?["headers"] {
            for header in headers {
                guard let name = HTTPField.Name(header.key), case .string(let value) = header.value else { continue }
                fields[name] = value
            }
        }
        let answer = Data(CanonicalJSON.bytes(response?["body"] ?? .null))
        return (HTTPResponse(status: .init(code: status), headerFields: fields), answer)
    }

    private func mismatch(_ text: String) -> ServerFailure {
        mismatches.append(text)
        return ServerFailure(text: text)
    }

    /// Returns a request in the form of the files.
    private static func json(_ request: HTTPRequest, _ body: Data?) throws -> JSONValue {
        let components = URLComponents(string: request.path ?? "")
        var members: [JSONValue.Member] = [
            .init("method", .string(request.method.rawValue)), .init("path", .string(components?.path ?? "")),
        ]
        let items = components?.queryItems ?? []
        if !items.isEmpty {
            members.append(.init("query", .object(items.map { .init($0.name, .string($0.value ?? "")) })))
        }
        let headers = request.headerFields.filter { $0.name.canonicalName.hasPrefix("x-") }
        members.append(.init("headers", .object(headers.map { .init($0.name.rawName, .string($0.value)) })))
        if let body { members.append(.init("body", try JSONValue(parsing: body))) }
        return decoded(.object(members))
    }

    /// Returns the request with JSON in its query as JSON.
    private static func decoded(_ request: JSONValue) -> JSONValue {
        guard case .string(let text)? = request.value(at: ["query", "where"]) else { return request }
        return request.setting((try? JSONValue(parsing: text)) ?? .null, at: ["query", "where"])
    }

    /// Returns the text with sorted members.
    private static func text(_ json: JSONValue) -> String { String(decoding: CanonicalJSON.bytes(json), as: UTF8.self) }
}
