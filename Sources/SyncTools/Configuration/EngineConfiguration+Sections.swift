import HTTPTypes
import SyncCore
import SyncService

extension ConfigurationValue {
    func headers() throws -> [HTTPField.Name: String] {
        var headers: [HTTPField.Name: String] = [:]
        for (key, value) in try members() {
            guard let name = HTTPField.Name(key) else { throw value.wrong("'\(key)' is no name of a header") }
            let text = try value.text()
            if text.isEmpty { throw value.wrong(value.emptyVariable ?? "the header is empty") }
            guard HTTPField.isValidValue(text) else {
                throw value.wrong(value.emptyVariable ?? "a header is one line of text, without blanks at its ends")
            }
            headers[name] = text
        }
        return headers
    }

    /// What the service is called in the database.
    func identity() throws -> String {
        let text = try text()
        if text.isEmpty { throw wrong(emptyVariable ?? "it is empty") }
        return text
    }

    func command() throws -> [String] {
        var reader = try object()
        let command = try reader.required("command") { try $0.elements().map { try $0.text() } }
        try reader.end()
        if command.isEmpty { throw wrong("the command is empty") }
        return command
    }

    func entities() throws -> [(entity: SyncedEntity, path: String?)] {
        let entities = try members().map { name, value -> (entity: SyncedEntity, path: String?) in
            var reader = try value.object()
            let path = try reader.optional("path") { try $0.pathBelow() }
            var entity = SyncedEntity(name)
            entity.policy = try reader.optional("policy") { try $0.choice(ConflictPolicy.self) }
            entity.deleteConflicts = try reader.optional("deleteConflicts") { try $0.choice(DeleteConflictPolicy.self) }
            entity.groups =
                try reader.optional("groups") {
                    try $0.elements().map { try $0.elements().map { try $0.neededText() } }
                } ?? []
            entity.naturalKey =
                try reader.optional("naturalKey") { try $0.elements().map { try $0.neededText() } } ?? []
            entity.cascades = try reader.optional("cascades") { try $0.choice(SyncedEntity.Cascades.self) }
            try reader.end()
            return (entity, path)
        }
        if entities.isEmpty { throw wrong("there is no entity") }
        return entities
    }

    func kinto() throws -> (bucket: String, collection: String) {
        var reader = try object()
        let bucket = try reader.optional("bucket") { try $0.text() } ?? "default"
        let collection = try reader.optional("collection") { try $0.text() } ?? "{path}"
        try reader.end()
        return (bucket, collection)
    }

    func rest() throws -> RESTOptions {
        var reader = try object()
        var options = RESTOptions()
        options.records = try reader.optional("records") { try $0.text() } ?? ""
        options.paging = try reader.optional("paging") { try $0.paging() } ?? .none
        options.since = try reader.optional("since") { try $0.text() }
        options.overlap = try reader.optional("overlap") { try $0.duration() } ?? options.overlap
        options.version = try reader.optional("version") { try $0.text() }
        options.deleted = try reader.optional("deleted") { try $0.text() }
        options.update = try reader.optional("update") { try $0.choice(RESTOptions.Update.self) } ?? .patch
        options.ids = try reader.optional("ids") { try $0.choice(ServiceCapabilities.IDs.self) } ?? .server
        options.idempotency = try reader.optional("idempotency") { try $0.headerName() }
        options.marker = try reader.optional("marker") { try $0.text() }
        options.preconditions = try reader.optional("preconditions") { try $0.headerName() }
        try reader.end()
        return options
    }

    private func headerName() throws -> String {
        let text = try neededText()
        guard HTTPField.Name(text) != nil else { throw wrong("'\(text)' is no name of a header") }
        return text
    }

    private enum Style: String, CaseIterable { case page, offset, link, next, cursor, none }

    private func paging() throws -> RESTOptions.Paging {
        var reader = try object()
        let style = try reader.required("style") { try $0.choice(Style.self) }
        func limit(_ reader: inout ConfigurationReader) throws -> Int {
            try reader.optional("limit") { try $0.count() } ?? 100
        }
        let paging: RESTOptions.Paging
        switch style {
        case .none: paging = .none
        case .page:
            paging = .page(
                page: try reader.optional("page") { try $0.text() } ?? "page",
                size: try reader.optional("size") { try $0.text() }, limit: try limit(&reader),
                total: try reader.optional("total") { try $0.text() })
        case .offset:
            paging = .offset(
                offset: try reader.optional("offset") { try $0.text() } ?? "offset",
                size: try reader.optional("size") { try $0.text() } ?? "limit", limit: try limit(&reader),
                total: try reader.optional("total") { try $0.text() })
        case .link: paging = .link(size: try reader.optional("size") { try $0.text() }, limit: try limit(&reader))
        case .next:
            paging = .next(
                try reader.required("next") { try $0.text() }, size: try reader.optional("size") { try $0.text() },
                limit: try limit(&reader))
        case .cursor:
            paging = .cursor(
                cursor: try reader.optional("cursor") { try $0.text() } ?? "cursor",
                next: try reader.required("next") { try $0.text() },
                size: try reader.optional("size") { try $0.text() }, limit: try limit(&reader))
        }
        try reader.end()
        return paging
    }
}
