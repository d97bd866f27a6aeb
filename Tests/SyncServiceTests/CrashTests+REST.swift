import Foundation
import Sync
import Testing

@testable import SyncService

extension CrashTests {
    /// What a REST service tells a row by that is made once more.
    enum KnownBy: String, Sendable, CaseIterable {
        /// A key in a header.
        case key
        /// A member with that key.
        case marker
        /// An id from here.
        case ownID
        /// Nothing: what looks the same is the same.
        case nothing
    }

    @Test(
        "loses nothing and makes nothing twice, with a REST service, whatever tells a row that is made once more",
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
            options.idempotency = "Idempotency-Key"
            members = settings
        case .marker:
            options.marker = "client_ref"
            members = [.init("marker", "client_ref")]
        case .ownID:
            settings = [.init("ids", "client")]
            options.ids = .client
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
