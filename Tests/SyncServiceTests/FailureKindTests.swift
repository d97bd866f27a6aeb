import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The kinds of the errors that a run throws if the service fails, and whether a repetition may succeed.
@Suite("Kinds of service failures")
struct FailureKindTests {
    private func failure(_ url: URL, _ transport: any HTTPTransport) async throws -> SyncError? {
        let service = RESTService(baseURL: url, options: RESTOptions(), transport: transport)
        let device = try Device(service, entities: ["Task"], Device.impatient)
        return await #expect(throws: SyncError.self) { try await device.engine.sync() }
    }

    private static let transport = DefaultTransport(timeout: .seconds(1), totalTimeout: .seconds(1))

    @Test("A refused connection is the error connectionRefused, which is transient")
    func refusedConnection() async throws {
        let error = try await failure(QuietPort(isRefusing: true).url, Self.transport)
        #expect(error?.code == .connectionRefused && error?.isTransient == true, "\(error?.description ?? "")")
    }

    @Test("A service without a response is the error timedOut, which is transient")
    func noResponse() async throws {
        let port = try QuietPort(isRefusing: false)
        let error = try await failure(port.url, Self.transport)
        #expect(error?.code == .timedOut && error?.isTransient == true, "\(error?.description ?? "")")
    }

    @Test("An unknown host name is the error hostNotFound, which is transient")
    func unknownHost() async throws {
        // No name server knows names of this top-level domain (RFC 2606).
        let url = try #require(URL(string: "http://api.invalid"))
        let error = try await failure(url, DefaultTransport())
        #expect(error?.code == .hostNotFound && error?.isTransient == true, "\(error?.description ?? "")")
    }

    @Test(
        "The HTTP status determines the kind of the error",
        arguments: [
            (401, SyncError.Code.unauthorized, false), (404, .notFound, false), (410, .notFound, false),
            (400, .serviceFailure, false), (500, .serviceUnavailable, true), (503, .serviceUnavailable, true),
            (429, .serviceUnavailable, true),
        ])
    func status(_ status: Int, _ code: SyncError.Code, _ isTransient: Bool) async throws {
        let url = try #require(URL(string: "http://localhost"))
        let error = try await failure(url, Served { _, _ in (status, [:], .null) })
        #expect(error?.code == code && error?.isTransient == isTransient, "\(error?.description ?? "")")
    }

    @Test("Errors of URLSession have the same kinds")
    func urlErrors() async throws {
        struct Failing: HTTPTransport {
            let error: URLError
            func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) { throw error }
        }
        let kinds: [(URLError.Code, SyncError.Code)] = [
            (.cannotFindHost, .hostNotFound), (.dnsLookupFailed, .hostNotFound),
            (.cannotConnectToHost, .connectionRefused), (.timedOut, .timedOut),
            (.networkConnectionLost, .serviceUnavailable),
        ]
        let url = try #require(URL(string: "http://localhost"))
        for (code, kind) in kinds {
            #expect(try await failure(url, Failing(error: URLError(code)))?.code == kind)
        }
    }
}

/// The progress and the report of runs, as text and numbers.
@Suite("Progress of runs")
struct RunProgressTests {
    @Test("The events of a push have the number of accepted changes and their total")
    func pushEvents() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 1))
        let device = try Device(service, entities: ["Task"])
        for title in ["a", "b", "c"] { try await device.stack.insert("Task", values: ["title": .string(title)]) }
        let events = device.engine.events
        try await device.engine.sync()
        var pushed: [[Int]] = []
        for await event in events {
            if case .pushed(let rows, let total) = event { pushed.append([rows, total]) }
            if case .finished = event { break }
        }
        #expect(pushed.last == [3, 3], "\(pushed)")
        #expect(pushed.allSatisfy { $0[0] <= $0[1] })
    }

    @Test("The number of pending changes can be observed")
    func pendingChanges() async throws {
        let device = try Device(InMemoryService(), entities: ["Task"])
        var counts = device.engine.observePendingChangeCount().makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await device.stack.insert("Task", values: ["title": "a"])
        #expect(try await counts.next() == 1)
        try await device.stack.insert("Task", values: ["title": "b"])
        #expect(try await counts.next() == 2)
        #expect(try await device.engine.pendingChangeCount() == 2)
        try await device.engine.sync()
        var last: Int?
        repeat { last = try await counts.next() } while last != 0 && last != nil
        #expect(last == 0)
        // A pushed update writes only the engine's tables.
        try await Sync.update(id: 1, with: ["title": "c"], inEntity: "Task", stack: device.stack)
        #expect(try await counts.next() == 1)
        try await device.engine.sync()
        #expect(try await counts.next() == 0)
        try device.stack.close()
        let error = await #expect(throws: SyncError.self) { while try await counts.next() != nil {} }
        #expect(error?.code == .storeClosed)
    }

    @Test("The status can be observed")
    func observedStatus() async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "theirs"])
        var configuration = Device.configuration
        configuration.conflictPolicy = .manual
        let device = try Device(service, entities: ["Task"], configuration)
        var statuses = device.engine.observeStatus().makeAsyncIterator()
        func wait(for isWanted: (EntityStatus) -> Bool) async throws {
            while let status = try await statuses.next()?.first { if isWanted(status) { return } }
            Issue.record("the observation ended")
        }
        try await wait { !$0.isInitialSyncComplete && $0.lastSyncDate == nil }
        try await device.engine.sync()
        try await wait { $0.isInitialSyncComplete && $0.lastSyncDate != nil }
        try await device.write("UPDATE Task SET title = 'mine'")
        try await wait { $0.pendingChanges == 1 }
        await service.set("Task", 1, ["title": "again"])
        try await device.engine.sync()
        try await wait { $0.openConflicts == 1 }
        let conflict = try #require(try await device.engine.conflicts().first)
        try await device.engine.resolve(conflict, keeping: .local)
        try await wait { $0.openConflicts == 0 }
        await service.setFault { request, _ in if case .push = request { .refuse } else { nil } }
        try await device.engine.sync()
        try await wait { $0.blockedChanges == 1 }
    }

    @Test("A report is printed with a line for each entity that changed")
    func reportText() async throws {
        let service = InMemoryService()
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "project": 1])
        let device = try Device(service)
        let pulled = try await device.engine.sync()
        #expect("\(pulled)" == "Project: pulled 1 inserted\nTask: pulled 1 inserted; links 1 added")
        try await device.stack.insert("Task", values: ["title": "mine"])
        let report = try await device.engine.sync()
        #expect("\(report)" == "Task: pushed 1 inserted")
        #expect("\(report.total)" == "pushed 1 inserted")
        let unchanged = try await device.engine.sync()
        #expect("\(unchanged)" == "nothing changed")
    }
}
