/// An option of the curl command.
struct CurlOption: Equatable {
    /// The long name, without "--" and "no-".
    let name: String
    /// The short name, without "-".
    let short: Character?
    let takesValue: Bool

    /// The options of curl 8 and earlier versions, by long name.
    ///
    /// The arity of each option must be correct. Otherwise, the arguments that follow it would have another meaning.
    private static let byName: [String: CurlOption] = {
        var options: [String: CurlOption] = [:]
        for (words, takesValue) in [(flagNames, false), (valueNames, true)] {
            for word in words.split(whereSeparator: \.isWhitespace) {
                let parts = word.split(separator: "/")
                let name = String(parts[0])
                let short = parts.count > 1 ? parts[1].first : nil
                options[name] = CurlOption(name: name, short: short, takesValue: takesValue)
            }
        }
        return options
    }()

    static var all: [CurlOption] { Array(byName.values) }

    private static let byShortName = Dictionary(
        byName.values.compactMap { option in option.short.map { ($0, option) } },
        uniquingKeysWith: { first, _ in first })

    /// Returns the option with a one-letter name.
    static func named(_ short: Character) -> CurlOption? { byShortName[short] }

    /// The result of looking up a long name.
    enum LongName: Equatable {
        case option(CurlOption, isOn: Bool)
        case ambiguous([String])
        case unknown
    }

    /// Looks up a long name, which can begin with "no-". Like curl, accepts the unambiguous beginning of a name.
    static func named(long name: String) -> LongName {
        if let option = byName[name] { return .option(option, isOn: true) }
        if name.hasPrefix("no-"), let option = byName[String(name.dropFirst(3))], !option.takesValue {
            return .option(option, isOn: false)
        }
        guard !name.isEmpty else { return .unknown }
        let candidates = byName.keys.filter { $0.hasPrefix(name) }.sorted()
        if candidates.count == 1, let option = byName[candidates[0]] { return .option(option, isOn: true) }
        return candidates.isEmpty ? .unknown : .ambiguous(candidates.map { "--\($0)" })
    }

    // Each word is a long name, followed by the short name, if any. A flag's name is without "no-": --no-buffer is listed as buffer.
    private static let flagNames = """
        anyauth append/a basic ca-native cert-status compressed compressed-ssh create-dirs crlf digest disable/q disable-eprt
        disable-epsv disallow-username-in-url doh-cert-status doh-insecure dump-ca-embed eprt epsv fail/f fail-early
        fail-with-body false-start follow form-escape ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc
        ftp-ssl-control ftp-ssl-reqd get/G globoff/g haproxy-protocol head/I http0.9 http1.0/0 http1.1 http2
        http2-prior-knowledge http3 http3-only ignore-content-length include/i insecure/k ipv4/4 ipv6/6
        junk-session-cookies/j list-only/l location/L location-trusted mail-rcpt-allowfails manual/M metalink mptcp negotiate
        netrc/n netrc-optional next/: alpn buffer/N clobber keepalive npn progress-meter sessionid ntlm ntlm-wb out-null
        parallel/Z parallel-immediate path-as-is post301 post302 post303 progress-bar/# proxy-anyauth proxy-basic
        proxy-ca-native proxy-digest proxy-http2 proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast
        proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel/p raw remote-header-name/J remote-name/O remote-name-all
        remote-time/R remove-on-error retry-all-errors retry-connrefused sasl-ir show-error/S silent/s skip-existing
        socks5-basic socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd
        ssl-revoke-best-effort sslv2/2 sslv3/3 styled-output suppress-connect-headers tcp-fastopen tcp-nodelay tftp-no-options
        tls-earlydata tlsv1/1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ids trace-time use-ascii/B verbose/v version/V
        xattr
        """

    private static let valueNames = """
        abstract-unix-socket alt-svc aws-sigv4 cacert capath cert/E cert-type ciphers config/K connect-timeout connect-to
        continue-at/C cookie/b cookie-jar/c create-file-mode crlfile curves data/d data-ascii data-binary data-raw
        data-urlencode delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header/D ech egd-file
        engine etag-compare etag-save expect100-timeout form/F form-string ftp-account ftp-alternative-to-user ftp-method
        ftp-port/P ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header/H help/h hostpubmd5 hostpubsha256 hsts
        interface ip-tos ipfs-gateway json keepalive-cnt keepalive-time key key-type knownhosts krb libcurl limit-rate
        local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time/m netrc-file noproxy
        oauth2-bearer output/o output-dir parallel-max parallel-max-host pass pinnedpubkey preproxy proto proto-default
        proto-redir proxy/x proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header
        proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype
        proxy-tlspassword proxy-tlsuser proxy-user/U proxy1.0 pubkey quote/Q random-file range/r rate referer/e request/X
        request-target resolve retry retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5
        socks5-gssapi-service socks5-hostname speed-limit/Y speed-time/y ssl-sessions stderr telnet-option/t tftp-blksize
        time-cond/z tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket
        upload-file/T upload-flags url url-query user/u user-agent/A variable vlan-priority write-out/w
        """
}

extension CurlOption {
    /// Why an option is ignored: it doesn't change the request or the output, or it is what `afar` does anyway.
    static let ignored: [String: String] = {
        var reasons = [
            "compressed": "responses are decompressed by default",
            "disable": "afar curl uses no default options",
            "fail-early": "afar always stops at the first failure",
            "form-escape": "names are escaped as in browsers",
            "http0.9": "responses of HTTP/0.9 are refused",
            "parallel": "requests are sent one after another",
            "parallel-immediate": "requests are sent one after another",
            "parallel-max": "requests are sent one after another",
            "parallel-max-host": "requests are sent one after another",
            "progress-bar": "afar download shows the progress",
            "progress-meter": "afar shows no progress here",
            "remote-time": "the time of the file isn't changed",
            "remove-on-error": "a partial file is always removed",
            "retry-connrefused": "refused connections are always retried",
            "show-error": "errors are shown by default",
            "xattr": "no attributes are stored",
        ]
        let groups = [
            "curl's default, too": "proxy-basic socks5-basic",
            "no effect on HTTP in afar": """
            alt-svc clobber egd-file expect100-timeout false-start happy-eyeballs-timeout-ms keepalive keepalive-cnt \
            npn random-file sessionid skip-existing ssl-sessions styled-output suppress-connect-headers tcp-fastopen \
            tcp-nodelay tls-earlydata tr-encoding trace-ids trace-time use-ascii ca-native mptcp
            """,
            "for Windows only": """
            proxy-ssl-auto-client-cert ssl-auto-client-cert ssl-no-revoke ssl-revoke-best-effort
            """,
            "for old TLS versions only":
                "proxy-ssl-allow-beast ssl-allow-beast proxy-tlsv1 tlsv1 tlsv1.0 tlsv1.1 tlsv1.2",
            "for other protocols than HTTP": """
            append compressed-ssh disable-eprt disable-epsv eprt epsv ftp-account ftp-alternative-to-user ftp-create-dirs \
            ftp-method ftp-pasv ftp-port ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc ftp-ssl-ccc-mode ftp-ssl-control \
            ftp-ssl-reqd hostpubmd5 hostpubsha256 ipfs-gateway knownhosts krb list-only login-options mail-auth mail-from \
            mail-rcpt mail-rcpt-allowfails pubkey quote sasl-authzid sasl-ir ssl ssl-reqd telnet-option tftp-blksize \
            tftp-no-options upload-flags
            """,
        ]
        for (reason, names) in groups {
            for name in names.split(whereSeparator: \.isWhitespace) { reasons[String(name)] = reason }
        }
        return reasons
    }()

    /// Why an option can't be translated, and what to do instead.
    static let refused: [String: String] = {
        var reasons = [
            "abstract-unix-socket": "afar connects only to sockets with a path, with --unix-socket",
            "aws-sigv4": "afar can't sign requests; the library does, with AfarSignatures",
            "capath": "put the certificates in one file, and use --cacert",
            "cert-status": "the stapled status isn't required; afar trust shows it",
            "config": "write its options on the command line",
            "continue-at": "use afar download --resume",
            "crlf": "convert the file before",
            "crlfile": "revocation lists aren't supported",
            "delegation": "Kerberos tickets aren't delegated",
            "dump-ca-embed": "use afar trust --pem",
            "ech": "encrypted client hellos aren't supported",
            "etag-compare": "use --cache FOLDER",
            "etag-save": "use --cache FOLDER",
            "follow": "write -L, which follows redirects with the method that HTTP defines",
            "haproxy-clientip": "the PROXY protocol isn't supported",
            "haproxy-protocol": "the PROXY protocol isn't supported",
            "help": "use afar --help",
            "hsts": "write https in the URL",
            "http1.0": "afar sends HTTP/1.1, 2 and 3",
            "http2-prior-knowledge": "use an https URL and --http 2",
            "ignore-content-length": "the length of a response is always checked",
            "junk-session-cookies": "remove them from the file",
            "libcurl": "afar writes no code",
            "local-port": "the system chooses the port",
            "location-trusted": "credentials aren't sent to other hosts; send the second request yourself",
            "manual": "use man afar",
            "max-filesize": "the size of a response has no limit",
            "metalink": "request the file's own URL",
            "next": "write a second command",
            "out-null": "use -o /dev/null",
            "pass":
                "write it to a file, and use --passphrase-file FILE, because other users see the arguments of a process",
            "post301": "redirects with 301 change POST to GET; send the second request yourself",
            "post302": "redirects with 302 change POST to GET; send the second request yourself",
            "post303": "redirects with 303 change POST to GET; send the second request yourself",
            "preproxy": "afar uses one proxy, with --proxy",
            "proxy1.0": "proxies must use HTTP/1.1; use --proxy",
            "rate": "afar sends its requests at once; --limit-rate limits the bytes per second",
            "raw": "transfer codings are always decoded",
            "request-target": "the target is always the URL's path and query",
            "retry-max-time": "use --timeout",
            "service-name": "the service name is always HTTP",
            "socks4": "use a proxy with SOCKS 5: --proxy socks5://HOST:PORT",
            "socks4a": "use a proxy with SOCKS 5: --proxy socks5h://HOST:PORT",
            "stderr": "redirect it in the shell: 2> FILE",
            "tls-max": "afar uses TLS 1.2 and 1.3",
            "trace": "use -v, or --har FILE",
            "trace-ascii": "use -v, or --har FILE",
            "trace-config": "use -v, or --har FILE",
            "variable": "use variables of the shell",
            "version": "use afar --version",
        ]
        let groups = [
            "addresses of DNS servers aren't supported; use --doh-url": """
            dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers
            """,
            "the server for --doh-url is verified like all others": "doh-cert-status doh-insecure",
            "cipher suites and TLS extensions can't be chosen": """
            ciphers curves sigalgs tls13-ciphers proxy-ciphers proxy-tls13-ciphers engine
            """,
            "TLS 1.2 is the oldest supported version": "sslv2 sslv3",
            "user names and passwords in TLS aren't supported": """
            tlsauthtype tlspassword tlsuser proxy-tlsauthtype proxy-tlspassword proxy-tlsuser
            """,
            "use --timeout": "speed-limit speed-time",
            "afar logs in to proxies with basic authentication": """
            proxy-anyauth proxy-digest proxy-negotiate proxy-ntlm proxy-service-name socks5-gssapi socks5-gssapi-nec \
            socks5-gssapi-service
            """,
            "a proxy is verified like a server, and no other fields are sent to it": """
            proxy-ca-native proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-crlfile proxy-header proxy-http2 \
            proxy-insecure proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey
            """,
            "fields of network packets can't be chosen": "ip-tos vlan-priority",
            "the mode of a file is the one of the system": "create-file-mode",
        ]
        for (reason, names) in groups {
            for name in names.split(whereSeparator: \.isWhitespace) { reasons[String(name)] = reason }
        }
        return reasons
    }()
}
