import Foundation
import SyncCore
import Testing

@testable import SyncStore

@Suite("Temporary keys")
struct TemporaryKeyTests {
    @Test("Temporary keys are below -2^62 or start with \"local-\"")
    func temporaryKeysAreMarked() {
        #expect(RowKey.integer(.min).isLocal && RowKey.integer(-(1 << 62) - 1).isLocal)
        #expect(RowKey.text(TemporaryKey.text()).isLocal)
        #expect(TemporaryKey.text() != TemporaryKey.text())
    }

    @Test(
        "Keys that only resemble temporary keys are not temporary",
        arguments: [
            .integer(-(1 << 62)), .integer(0), .integer(.max), .real(-.infinity), .text(""), .text("local-"),
            .text("local-" + String(repeating: "z", count: 36)),
            .text("Local-E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), .text("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
            .text("local-E621E1F8-C36C-495A-93FC-0C247A3E6E5F "),
        ] as [RowKey])
    func similarKeysAreNotTemporary(_ key: RowKey) {
        #expect(!key.isLocal)
    }
}
