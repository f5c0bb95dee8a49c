/** What is looked at of an order. */
export interface Located {
  /** Its key: `git.example/shop/basket`, or of a folder on the server a mark that is safe in a path. */
  repository: string;
  repository_url: string;
}

/** The name people know a repository by: owner and name, or what its folder is called. */
export function repositoryName({ repository, repository_url }: Located): string {
  const parts = repository.split("/").filter(Boolean).slice(-2);
  if (parts.length > 1) return parts.join("/");
  return folderName(repository_url) || withoutMark(repository);
}

/** Of a path or a file address; a bare one ends with `.git`, and its folder is the name. */
function folderName(url: string): string {
  const path = url.startsWith("file://") ? decoded(url.slice("file://".length)) : url;
  const name = path.split("/").filter((part) => part !== "" && part !== ".git");
  return name.at(-1)?.replace(/\.git$/, "") ?? "";
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Without what keeps equal names apart. */
function withoutMark(key: string): string {
  return key.replace(/-[0-9a-f]{16}$/, "") || key;
}

/** Names for a choice: those that are equal are told apart by the folder they are in. */
export function repositoryNames(known: readonly Located[]): Map<string, string> {
  const byKey = new Map(known.map((one) => [one.repository, one]));
  const names = [...byKey.values()].map((one) => ({ ...one, name: repositoryName(one) }));
  return new Map(
    names.map(({ repository, repository_url: url, name }) => {
      const isAlone = names.filter((other) => other.name === name).length === 1;
      return [repository, isAlone ? name : `${name} (${url})`];
    }),
  );
}
