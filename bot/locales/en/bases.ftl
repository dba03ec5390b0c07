# Several bases, shared bases.

base-left = The base “{ $name }” is no longer open to you. Your own is open now.
base-closed = This base is gone, or was closed to you. Your bases: /bases
base-read-only = You may read this base and ask it, but not change it. Your other bases: /bases
