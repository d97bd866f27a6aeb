import Foundation
import Sync
import Testing

@testable import SyncService

extension CrashTests {
    /// How a REST service identifies a record that is created again.
    enum KnownBy: String, Sendable, CaseIterable {
        /// By an idempotency key in a header.
        case key
        /// By a field with that key.
        case marker
        /// By an ID from the client.
        case ownID
        /// By nothing: equal values identify the record.
        case nothing
    }

    @Test(
        "A killed process loses and duplicates nothing with a REST service",
        .enabled(if: RESTServer.isThere, "make services builds the server"),
        arguments: ["before", "after"], KnownBy.allCases)
    func rest(_ moment: String, _ knownBy: KnownBy) async throws {
        try await killed(moment) { try await RESTPlace(knownBy) }
    }
}

/// A space of the REST server.
private struct RESTPlace: CrashPlace {
    let service: any SyncService
    let configuration: JSONValue

    init(_ knownBy: CrashTests.KnownBy) async throws {
        var settings: [JSONValue.Member] = []
        var options = RESTOptions()
        var members: [JSONValue.Member] = []
        switch knownBy {
        case .key:
            settings = [.init("idempotency", "Idempotency-Key")]
            options.idempotencyHeader = "Idempotency-Key"
            members = settings
        case .marker:
            options.markerField = "client_ref"
            members = [.init("marker", "client_ref")]
        case .ownID:
            settings = [.init("ids", "client")]
            options.idAssignment = .client
            members = settings
        case .nothing: break
        }
        let space = try await RESTServer.shared.space(.object(settings))
        service = RESTService(baseURL: space.url, options: options)
        configuration = [
            "service": "rest", "url": .string(space.url.absoluteString), "entities": ["Project": [:], "Task": [:]],
            "rest": .object(members),
        ]
    }
}
