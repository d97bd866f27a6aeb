import Foundation
import SyncCore
import SyncService

/// What a configuration says of a PocketBase server.
struct PocketBaseSection: Sendable {
    var options = PocketBaseOptions()
    /// Who signs in with a password.
    var login: (collection: String, identity: String, password: String)?

    /// Credentials of who signs in.
    func credentials(at url: URL, _ transport: any HTTPTransport) -> ServiceCredentials? {
        login.map { login in
            PocketBaseService.login(
                at: url, collection: login.collection, identity: login.identity, password: login.password,
                transport: transport)
        }
    }
}

extension ConfigurationValue {
    func pocketBase() throws -> PocketBaseSection {
        var reader = try object()
        var section = PocketBaseSection()
        if let updated = try reader.optional("updated", { try $0.text() }) {
            section.options.updated = updated.isEmpty ? nil : updated
        }
        section.options.overlap = try reader.optional("overlap") { try $0.duration() } ?? section.options.overlap
        section.options.batchSize = try reader.optional("batch") { try $0.count() } ?? section.options.batchSize
        section.login = try reader.optional("login") { try $0.login() }
        try reader.end()
        return section
    }

    private func login() throws -> (collection: String, identity: String, password: String) {
        var reader = try object()
        let collection = try reader.optional("collection") { try $0.text() } ?? "users"
        let identity = try reader.required("identity") { try $0.text() }
        let password = try reader.required("password") { try $0.text() }
        try reader.end()
        return (collection, identity, password)
    }
}
