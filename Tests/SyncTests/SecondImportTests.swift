import Foundation
import Sync
import Testing

/// Syncs every payload file whole, without the operations, predicates and parents of scenarios. `OwnScenarioTests` and
/// `ConformanceTests` make each sync of a scenario twice.
@Suite("A second import of a payload file")
struct SecondImportTests {
    @Test("A second import of a payload of the package writes nothing", arguments: try PayloadFile.own())
    func packagePayloadsWriteNothing(_ payload: PayloadFile) async throws {
        try await expectNothingWritten(payload)
    }

    @Test(
        "A second import of a payload of the corpus writes nothing",
        .enabled(if: PayloadFile.corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: try PayloadFile.corpus.map(PayloadFile.shared) ?? [])
    func corpusPayloadsWriteNothing(_ payload: PayloadFile) async throws {
        try await expectNothingWritten(payload)
    }

    @Test("Second imports cover every payload file")
    func everyFileIsImported() throws {
        let own = try Set(PayloadFile.own().map(\.file.path))
        let files = try PayloadFile.files(in: Fixtures.folder.appendingPathComponent("Payloads")).map(\.path)
        #expect(files.count > 3)
        #expect(files.filter { !own.contains($0) } == [])
        guard let corpus = PayloadFile.corpus else { return }
        let shared = try Set(PayloadFile.shared(corpus).map(\.file.path))
        let all = try PayloadFile.files(in: corpus.appendingPathComponent("json")).map(\.path)
        #expect(all.filter { !shared.contains($0) } == [])
    }

    private func expectNothingWritten(_ payload: PayloadFile) async throws {
        let stack = try DataStack.inMemory(SyncModel(contentsOf: payload.model))
        let json = try Data(contentsOf: payload.file)
        var options = SyncOptions()
        options.keyPath = .init(payload.keyPath)
        let before = try await stack.changesWritten()
        let first = try await Sync.changes(json, inEntity: payload.entity, stack: stack, options: options)
        let written = try await stack.changesWritten()
        #expect(!first.isEmpty)
        #expect(written > before)
        let contents = try await stack.contents()
        let second = try await Sync.changes(json, inEntity: payload.entity, stack: stack, options: options)
        #expect(second.isEmpty)
        #expect(second.root.matched == first.root.inserted)
        #expect(try await stack.changesWritten() == written)
        #expect(try await stack.contents().differences(from: contents) == [])
        #expect(try await stack.damage() == [])
    }
}
