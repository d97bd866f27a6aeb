import Foundation
import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite final class StagedStoreFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var url: URL { folder.appendingPathComponent("store.sqlite") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func fill(_ draft: StagedStoreFile, userID: Int64) throws {
        let stack = try DataStack(model: Models.links(), in: draft)
        try stack.insert("User", values: ["id": JSONValue(userID)])
        try stack.close()
    }

    private func users() throws -> [Int64] {
        let stack = try DataStack(reading: url)
        defer { try? stack.close() }
        return try stack.fetch("User").compactMap { $0["id"]?.int }
    }

    @Test func stagedFilesAreHiddenAndPrivate() throws {
        let drafts = try (0..<20).map { _ in try StagedStoreFile(for: url) }
        let names = try files()
        #expect(Set(names).count == 20)
        for name in names {
            #expect(name.hasPrefix("."))
            #expect(!name.contains("\(ProcessInfo.processInfo.processIdentifier)"))
            let path = folder.appendingPathComponent(name).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        for draft in drafts { draft.remove() }
        #expect(try files() == [])
    }

    @Test func publishingMakesAStagedFileTheStore() throws {
        let draft = try StagedStoreFile(for: url)
        try fill(draft, userID: 1)
        #expect(try files().count == 1)
        #expect(try draft.publish())
        draft.remove()
        #expect(try users() == [1])
        #expect(try files() == ["store.sqlite"])
    }

    @Test func publishingKeepsAStoreThatAppearedMeanwhile() throws {
        let (first, second) = try (StagedStoreFile(for: url), StagedStoreFile(for: url))
        try fill(first, userID: 1)
        try fill(second, userID: 2)
        #expect(try second.publish())
        #expect(try !first.publish())
        first.remove()
        second.remove()
        #expect(try users() == [2])
        #expect(try files() == ["store.sqlite"])
    }

    @Test func publishingFillsAnEmptyFileInPlace() throws {
        try Data().write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        try FileManager.default.linkItem(at: url, to: folder.appendingPathComponent("other"))
        let before = try #require(FileStatus(at: url.path))
        let (first, second) = try (StagedStoreFile(for: url), StagedStoreFile(for: url))
        try fill(first, userID: 1)
        try fill(second, userID: 2)
        #expect(try first.publish())
        #expect(try !second.publish())
        first.remove()
        second.remove()
        let after = try #require(FileStatus(at: url.path))
        #expect(after.identity == before.identity)
        #expect(after.permissions == 0o600)
        #expect(try users() == [1])
        #expect(try files() == ["other", "store.sqlite"])
    }

    @Test(arguments: ["-wal", "-journal"])
    func journalsOfAnotherStoreAreRejected(_ suffix: String) throws {
        let log = Data("left by another".utf8)
        try log.write(to: URL(fileURLWithPath: url.path + suffix))
        let url = url
        let model = try Models.links()
        let error = try #require(throws: SyncError.self) { _ = try DataStack(model: model, at: url) }
        #expect(error.code == .cannotOpenStore)
        #expect(try Data(contentsOf: URL(fileURLWithPath: url.path + suffix)) == log)
        #expect(try files() == ["store.sqlite\(suffix)"])
    }

    @Test func aSymbolicLinkToAMissingFileLeadsToTheNewStore() throws {
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "real.sqlite")
        let stack = try DataStack(model: Models.links(), at: url)
        try stack.close()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: url.path) == "real.sqlite")
        #expect(try files() == ["real.sqlite", "store.sqlite"])
    }

    // MARK: Files of killed processes

    @Test func onlyDraftsOfKilledProcessesAreRemoved() throws {
        let live = try TemporaryFolder(in: folder.path)
        var dead: TemporaryFolder? = try TemporaryFolder(in: folder.path)
        for suffix in StoreFiles.suffixes {
            try Data("rows".utf8).write(to: URL(fileURLWithPath: try #require(dead).path + suffix))
        }
        // Its lock is released, as at the end of a process.
        dead = nil
        #expect(try files().count == 2)
        let next = try TemporaryFolder(in: folder.path)
        #expect(try files().count == 2)
        #expect(FileStatus(at: (live.path as NSString).deletingLastPathComponent) != nil)
        #expect(FileStatus(at: next.path) == nil)
        live.remove()
        next.remove()
        #expect(try files() == [])
    }

    @Test func filesThatAreNotCertainlyDraftsAreKept() throws {
        let other = folder.appendingPathComponent("other")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: other.appendingPathComponent("draft"))
        let names = ["link", "mode", "contents", "file"].map { ".sync-draft-\($0)" }
        let paths = names.map { folder.appendingPathComponent($0).path }
        try FileManager.default.createSymbolicLink(atPath: paths[0], withDestinationPath: "other")
        for path in paths[1...2] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/draft"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: paths[1])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: paths[2])
        try Data("mine".utf8).write(to: URL(fileURLWithPath: paths[2] + "/notes.txt"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: paths[3]))
        try TemporaryFolder(in: folder.path).remove()
        #expect(try files() == (names + ["other"]).sorted())
        for path in [other.path] + paths[0...2] {
            #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/draft")) == Data("mine".utf8))
        }
    }

    // MARK: Creation

    @Test func concurrentCreationsMakeOneStore() async throws {
        let (url, model) = (url, try Models.links())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...8 {
                group.addTask {
                    let stack = try DataStack(model: model, at: url)
                    _ = try await stack.insert("User", values: ["id": JSONValue(Int64(id))])
                }
            }
            try await group.waitForAll()
        }
        #expect(try users() == Array(1...8))
        #expect(try files() == ["store.sqlite"])
    }
}
